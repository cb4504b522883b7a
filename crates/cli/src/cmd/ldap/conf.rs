//! Settings that OpenLDAP's tools take from the environment and from ldap.conf.

use std::path::PathBuf;

/// Returns a setting, as `URI` or `BASE`: `LDAP…` of the environment, else the value in the last file that has it: the
/// system's, `ldaprc` and `.ldaprc` in the home folder, `$LDAPCONF`, and `$LDAPRC` in the home folder and here. `LDAPNOINIT`
/// in the environment switches all of that off.
///
/// libldap also reads `ldaprc` of the current folder. Here that file is read only if `LDAPRC=ldaprc` asks for it: a folder of
/// somebody else must not choose the server that receives a password.
pub fn setting(name: &str) -> Option<String> {
    if std::env::var_os("LDAPNOINIT").is_some() {
        return None;
    }
    std::env::var(format!("LDAP{name}")).ok().or_else(|| {
        let files = files();
        files.iter().rev().find_map(|path| value(&std::fs::read_to_string(path).ok()?, name))
    })
}

fn files() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut files = vec![PathBuf::from("/etc/openldap/ldap.conf"), PathBuf::from("/etc/ldap/ldap.conf")];
    files.extend(home.iter().flat_map(|home| [home.join("ldaprc"), home.join(".ldaprc")]));
    files.extend(std::env::var_os("LDAPCONF").map(PathBuf::from));
    if let Some(name) = std::env::var_os("LDAPRC") {
        files.extend(home.iter().map(|home| home.join(&name)));
        files.push(PathBuf::from(name));
    }
    files
}

/// What the last line with this name says.
fn value(text: &str, name: &str) -> Option<String> {
    text.lines().rev().find_map(|line| {
        let (word, value) = line.split_once(char::is_whitespace)?;
        word.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn lines() {
        let text = "# URI ldap://no\nuri\tldap://a ldap://b \nBASE  o=x y\nBASE o=z\n URI ldap://indented\n";
        assert_eq!(value(text, "URI").as_deref(), Some("ldap://a ldap://b"));
        assert_eq!(value(text, "BASE").as_deref(), Some("o=z"));
        assert_eq!(value(text, "BINDDN"), None);
    }
}
