// go-ldap: HOST PORT discard|ldif. Entries come over a channel, so that the answer is not collected.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-ldap/ldap/v3"
	"github.com/go-ldap/ldif"
)

func main() {
	connection, err := ldap.DialURL("ldap://" + os.Args[1] + ":" + os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	if err := connection.UnauthenticatedBind(""); err != nil {
		log.Fatal(err)
	}
	request := ldap.NewSearchRequest("o=test", ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 0, 0, false,
		"(objectClass=*)", nil, nil)
	answer := connection.SearchAsync(context.Background(), request, 64)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	defer out.Flush()
	count := 0
	for answer.Next() {
		entry := answer.Entry()
		count++
		if os.Args[3] == "ldif" {
			text, err := ldif.ToLDIF(entry)
			if err == nil {
				var lines string
				lines, err = ldif.Marshal(text)
				out.WriteString(lines)
			}
			if err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := answer.Err(); err != nil {
		log.Fatal(err)
	}
	if os.Args[3] == "discard" {
		fmt.Fprintln(out, count)
	}
}
