//! Clients of others with the directory: ldap3, python-ldap and go-ldap. Those of OpenLDAP are in `openldap.rs`.

use std::process::{Command, Stdio};

use tercet_ldap::directory::Directory;

/// Runs a script; reports a skip if Python lacks the module.
async fn run(module: &str, need: &str, script: &str) {
    let Some([python]) = tercet_testing::programs(need, ["python3"]) else { return };
    // The packages of the system belong to its own interpreter.
    let python =
        if std::path::Path::new("/usr/bin/python3").exists() { "/usr/bin/python3".into() } else { python };
    let has = Command::new(&python)
        .args(["-c", &format!("import {module}")])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has {
        tercet_testing::skip(need, &format!("no module `{module}`"));
        return;
    }
    let mut command = Command::new(python);
    command.args(["-c", script]);
    passes(command).await;
}

/// Runs a client with the URL of a directory: it leaves no more and no less entries than there were.
async fn passes(mut command: Command) {
    let directory = Directory::new().with_root("cn=admin,o=test", "secret");
    let people = "dn: o=test\nobjectClass: organization\no: test\n\n\
        dn: uid=ada,o=test\nobjectClass: inetOrgPerson\nuid: ada\ncn: Ada\nsn: Lovelace\nuserPassword: engine\n\n\
        dn: uid=bob,o=test\nobjectClass: inetOrgPerson\nuid: bob\ncn: Bob\nsn: L\u{f8}v\n";
    directory.load(people.as_bytes()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    command.arg(server.url());
    let ran = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "done\n", "{errors}");
    assert_eq!(directory.len(), 3);
}

/// The program in `tests/go-ldap`, built with what the module proxy has, or Go's own cache.
#[tokio::test]
async fn go_ldap() {
    let Some([go]) = tercet_testing::programs("go", ["go"]) else { return };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go-ldap");
    let fetched = Command::new(&go).args(["mod", "download"]).current_dir(&folder).output().unwrap();
    if !fetched.status.success() {
        tercet_testing::skip("go", &format!("no modules: {}", String::from_utf8_lossy(&fetched.stderr)));
        return;
    }
    let target = tempfile::tempdir().unwrap();
    let program = target.path().join("client");
    let built = Command::new(&go)
        .args(["build", "-buildvcs=false", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    passes(Command::new(program)).await;
}

#[tokio::test]
async fn ldap3() {
    let script = r#"
import sys
from urllib.parse import urlparse
from ldap3 import ALL, MODIFY_REPLACE, SUBTREE, Connection, Server
url = urlparse(sys.argv[1])
server = Server(url.hostname, port=url.port, get_info=ALL)
c = Connection(server, 'cn=admin,o=test', 'secret', auto_bind=True)
assert server.info.naming_contexts == ['o=test'], server.info.naming_contexts
assert server.schema.object_classes['inetOrgPerson'].superior == ['organizationalPerson']
assert 'mail' in server.schema.attribute_types
dn = 'uid=eva,o=test'
assert c.add(dn, ['inetOrgPerson'], {'cn': 'Eva', 'sn': 'V', 'mail': ['a@x', 'b@x']}), c.result
assert c.search('o=test', '(mail=A@x)', attributes=['*', '+'])
assert c.entries[0].entry_dn == dn and c.entries[0].mail.values == ['a@x', 'b@x']
assert c.modify(dn, {'sn': [(MODIFY_REPLACE, ['W'])]}) and c.compare(dn, 'sn', 'w')
assert c.modify_dn(dn, 'uid=eve')
assert c.extend.standard.who_am_i() == 'dn:cn=admin,o=test'
assert c.extend.standard.modify_password('uid=eve,o=test', new_password='x')
assert Connection(server, 'uid=eve,o=test', 'x').bind()
assert not Connection(server, 'uid=eve,o=test', 'y').bind()
paged = c.extend.standard.paged_search('o=test', '(objectClass=*)', SUBTREE, paged_size=2)
assert len(list(paged)) == 4
assert c.delete('uid=eve,o=test')
assert not c.delete('uid=eve,o=test') and c.result['description'] == 'noSuchObject'
assert Connection(server, 'uid=ada,o=test', 'engine').bind()
print('done')
"#;
    run("ldap3", "ldap3", script).await;
}

#[tokio::test]
async fn python_ldap() {
    let script = r#"
import sys
import ldap, ldap.modlist, ldap.schema
from ldap.controls import SimplePagedResultsControl
c = ldap.initialize(sys.argv[1])
c.simple_bind_s('cn=admin,o=test', 'secret')
assert c.whoami_s() == 'dn:cn=admin,o=test'
assert c.compare_s('uid=ada,o=test', 'uid', 'ADA')
assert c.search_subschemasubentry_s() == 'cn=subschema'
schema = ldap.schema.SubSchema(c.read_subschemasubentry_s('cn=subschema'))
assert 'mail' in schema.get_obj(ldap.schema.AttributeType, 'mail').names
must, may = schema.attribute_types(['inetOrgPerson'])
assert {a.names[0] for a in must.values()} >= {'sn', 'cn'}
entry = {'objectClass': [b'inetOrgPerson'], 'cn': [b'a'], 'sn': [b'b'], 'uid': [b'py']}
c.add_s('uid=py,o=test', ldap.modlist.addModlist(entry))
c.modify_s('uid=py,o=test', [(ldap.MOD_REPLACE, 'sn', [b'q'])])
c.rename_s('uid=py,o=test', 'uid=pz')
c.passwd_s('uid=pz,o=test', None, 'x')
assert c.search_s('uid=pz,o=test', ldap.SCOPE_BASE)[0][1]['sn'] == [b'q']
control, count = SimplePagedResultsControl(True, size=2, cookie=''), 0
while True:
    found = c.result3(c.search_ext('o=test', ldap.SCOPE_SUBTREE, '(objectClass=*)', serverctrls=[control]))
    count += len(found[1])
    control.cookie = found[3][0].cookie
    if not control.cookie:
        break
assert count == 4, count
c.delete_s('uid=pz,o=test')
try:
    c.delete_s('uid=pz,o=test')
    raise SystemExit('deleted twice')
except ldap.NO_SUCH_OBJECT as error:
    assert error.args[0]['matched'] == 'o=test', error
print('done')
"#;
    run("ldap", "python-ldap", script).await;
}
