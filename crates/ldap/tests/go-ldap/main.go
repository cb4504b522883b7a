// go-ldap with a directory whose URL is the argument: every operation once, and what it undoes.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-ldap/ldap/v3"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(holds bool, what string) {
	if !holds {
		log.Fatal(what)
	}
}

func main() {
	connection, err := ldap.DialURL(os.Args[1])
	check(err)
	defer connection.Close()
	check(connection.Bind("cn=admin,o=test", "secret"))
	who, err := connection.WhoAmI(nil)
	check(err)
	expect(who.AuthzID == "dn:cn=admin,o=test", who.AuthzID)

	dn := "uid=eva,o=test"
	add := ldap.NewAddRequest(dn, nil)
	add.Attribute("objectClass", []string{"inetOrgPerson"})
	add.Attribute("cn", []string{"Eva"})
	add.Attribute("sn", []string{"V"})
	add.Attribute("mail", []string{"a@x", "b@x"})
	check(connection.Add(add))

	search := func(filter string, attributes ...string) *ldap.SearchRequest {
		return ldap.NewSearchRequest("o=test", ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 0, 0, false,
			filter, attributes, nil)
	}
	found, err := connection.Search(search("(mail=A@x)", "mail", "entryUUID"))
	check(err)
	expect(len(found.Entries) == 1 && found.Entries[0].DN == dn, "search")
	expect(len(found.Entries[0].GetAttributeValues("mail")) == 2, "values")
	expect(len(found.Entries[0].GetAttributeValue("entryUUID")) == 36, "entryUUID")

	modify := ldap.NewModifyRequest(dn, nil)
	modify.Replace("sn", []string{"W"})
	modify.Delete("mail", []string{"b@x"})
	check(connection.Modify(modify))
	same, err := connection.Compare(dn, "sn", "w")
	check(err)
	expect(same, "compare")

	check(connection.ModifyDN(ldap.NewModifyDNRequest(dn, "uid=eve", true, "")))
	dn = "uid=eve,o=test"
	made, err := connection.PasswordModify(ldap.NewPasswordModifyRequest(dn, "", ""))
	check(err)
	expect(made.GeneratedPassword != "", "generated password")
	other, err := ldap.DialURL(os.Args[1])
	check(err)
	check(other.Bind(dn, made.GeneratedPassword))
	expect(ldap.IsErrorWithCode(other.Bind(dn, "wrong"), ldap.LDAPResultInvalidCredentials), "wrong password")
	check(other.Close())

	paged, err := connection.SearchWithPaging(search("(objectClass=*)", "1.1"), 2)
	check(err)
	expect(len(paged.Entries) == 4, "pages")
	sorted := search("(uid=*)", "uid")
	sorted.Controls = []ldap.Control{ldap.NewControlServerSideSortingWithSortKeys([]*ldap.SortKey{
		{AttributeType: "uid", MatchingRule: "caseIgnoreOrderingMatch", Reverse: true},
	})}
	found, err = connection.Search(sorted)
	check(err)
	expect(len(found.Entries) == 3 && found.Entries[0].DN == dn, "sorted")

	// The same over a channel, and what a synchronization begins with.
	answer := connection.SearchAsync(context.Background(), search("(uid=ada)"), 4)
	expect(answer.Next() && answer.Entry().GetAttributeValue("cn") == "Ada" && !answer.Next(), "channel")
	check(answer.Err())
	sync := connection.Syncrepl(context.Background(), search("(uid=*)"), 4, ldap.SyncRequestModeRefreshOnly, nil, false)
	count := 0
	for sync.Next() {
		if sync.Entry() != nil {
			count++
		}
	}
	check(sync.Err())
	expect(count == 3, fmt.Sprint("synchronization: ", count))

	check(connection.Del(ldap.NewDelRequest(dn, nil)))
	err = connection.Del(ldap.NewDelRequest(dn, nil))
	expect(ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject), "deleted twice")
	expect(err.(*ldap.Error).MatchedDN == "o=test", "matched")
	fmt.Println("done")
}
