//! Sets of attributes that belong together, as all that an account for mail has.

use std::collections::HashMap;

use super::{Draft, Generators};
use crate::error::{Error, ErrorKind, Result};

/// A set of attributes that belong together.
///
/// ```
/// use tercet_ldap::entry::Service;
///
/// let mail = Service::new("mail")
///     .value("objectClass", "inetLocalMailRecipient")
///     .generate("mailLocalAddress")
///     .depends("person");
/// assert_eq!(mail.name(), "mail");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    name: String,
    values: Vec<(String, Vec<u8>)>,
    generate: Vec<String>,
    depends: Vec<String>,
}

impl Service {
    /// A service with this name, and nothing else yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: Vec::new(), generate: Vec::new(), depends: Vec::new() }
    }

    /// Adds a value that an entry with the service has.
    #[must_use]
    pub fn value(mut self, attribute: impl Into<String>, value: impl AsRef<[u8]>) -> Self {
        self.values.push((attribute.into(), value.as_ref().to_vec()));
        self
    }

    /// Adds an attribute that is generated unless the entry has it.
    #[must_use]
    pub fn generate(mut self, attribute: impl Into<String>) -> Self {
        self.generate.push(attribute.into());
        self
    }

    /// Adds a service that an entry with this one has too.
    #[must_use]
    pub fn depends(mut self, service: impl Into<String>) -> Self {
        self.depends.push(service.into());
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn is_in(&self, draft: &Draft) -> bool {
        self.values.iter().all(|(attribute, value)| draft.has_value(attribute, value))
            && self.generate.iter().all(|attribute| draft.has(attribute))
    }
}

/// Services, and the generators of their attributes.
#[derive(Clone, Debug, Default)]
pub struct Services {
    services: Vec<Service>,
    generators: Generators,
}

impl Services {
    /// No services, with these generators.
    #[must_use]
    pub const fn new(generators: Generators) -> Self {
        Self { services: Vec::new(), generators }
    }

    /// Adds a service, instead of one with this name.
    pub fn add(&mut self, service: Service) {
        self.services.retain(|known| known.name != service.name);
        self.services.push(service);
    }

    fn find(&self, name: &str) -> Result<&Service> {
        let known = || {
            let names: Vec<&str> = self.services.iter().map(|service| service.name.as_str()).collect();
            Error::new(ErrorKind::Usage, format!("unknown service `{name}`; known: {}", names.join(", ")))
        };
        self.services.iter().find(|service| service.name == name).ok_or_else(known)
    }

    /// Adds a service to an entry: those on which it depends, then its values and its generated attributes, as far as they are not
    /// there. To add it twice is to add it once. Returns the names of the services of which something was added.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for unknown services and services that depend on each other in a cycle; as [`Generators::generate`]. The
    /// entry is as before.
    pub fn add_service(&self, draft: &mut Draft, name: &str) -> Result<Vec<String>> {
        let mut changed = draft.clone();
        let mut added = Vec::new();
        for service in self.with_dependencies(name)? {
            let before = changed.clone();
            for (attribute, value) in &service.values {
                changed.add(attribute, value);
            }
            let attributes: Vec<&str> = service.generate.iter().map(String::as_str).collect();
            self.generators.generate(&mut changed, &attributes)?;
            if changed != before {
                added.push(service.name.clone());
            }
        }
        *draft = changed;
        Ok(added)
    }

    /// Removes a service from an entry, and before it the services that depend on it: their values and generated attributes, but
    /// those that another service of the entry has too, and those of its name. To remove it twice is to remove it once. Returns the
    /// names of the services that were removed, in this order.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for unknown services and services that depend on each other in a cycle.
    pub fn remove_service(&self, draft: &mut Draft, name: &str) -> Result<Vec<String>> {
        self.find(name)?;
        let mut goes = Vec::new();
        let mut stays = Vec::new();
        for service in self.services.iter().filter(|service| service.is_in(draft)) {
            let all = self.with_dependencies(&service.name)?;
            if all.iter().any(|one| one.name == name) {
                goes.push((all.len(), service))
            } else {
                stays.push(service)
            }
        }
        // What depends on most goes first.
        goes.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        let dn: crate::Dn = draft.dn().parse()?;
        let named: Vec<crate::Ava> = dn.rdns().first().map(|rdn| rdn.avas().to_vec()).unwrap_or_default();
        let is_of_name = |attribute: &str, value: Option<&[u8]>, draft: &Draft| {
            let rule = draft.rule(attribute);
            named.iter().any(|ava| {
                ava.attribute().eq_ignore_ascii_case(attribute)
                    && value.is_none_or(|value| rule.normalize(value) == rule.normalize(ava.value()))
            })
        };
        for (_, service) in &goes {
            for (attribute, value) in &service.values {
                let rule = draft.rule(attribute);
                let key = rule.normalize(value);
                let is_kept = stays.iter().any(|other| {
                    let mut values =
                        other.values.iter().filter(|(name, _)| name.eq_ignore_ascii_case(attribute));
                    values.any(|(_, value)| rule.normalize(value) == key)
                        || has_name(&other.generate, attribute)
                });
                if !is_kept && !is_of_name(attribute, Some(value), draft) {
                    draft.remove_value(attribute, value);
                }
            }
            for attribute in &service.generate {
                let is_kept = stays.iter().any(|other| {
                    has_name(&other.generate, attribute)
                        || other.values.iter().any(|(name, _)| name.eq_ignore_ascii_case(attribute))
                });
                if !is_kept && !is_of_name(attribute, None, draft) {
                    draft.remove(attribute);
                }
            }
        }
        Ok(goes.into_iter().map(|(_, service)| service.name.clone()).collect())
    }

    /// Returns whether an entry has all values and attributes of a service and of those on which it depends.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for unknown services and services that depend on each other in a cycle.
    pub fn has_service(&self, draft: &Draft, name: &str) -> Result<bool> {
        Ok(self.with_dependencies(name)?.iter().all(|service| service.is_in(draft)))
    }

    /// The names of the services that an entry has, in the order in which they were added here.
    ///
    /// # Errors
    /// As [`Services::has_service`].
    pub fn services(&self, draft: &Draft) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for service in &self.services {
            if self.has_service(draft, &service.name)? {
                names.push(service.name.clone());
            }
        }
        Ok(names)
    }

    /// A service behind all on which it depends.
    fn with_dependencies(&self, name: &str) -> Result<Vec<&Service>> {
        let mut order: Vec<&Service> = Vec::new();
        let mut states: HashMap<&str, bool> = HashMap::new();
        let mut stack = vec![(self.find(name)?, 0)];
        while let Some((service, next)) = stack.pop() {
            if next == 0 && states.get(service.name.as_str()) == Some(&true) {
                continue;
            }
            states.insert(&service.name, false);
            let Some(dependency) = service.depends.get(next) else {
                states.insert(&service.name, true);
                order.push(service);
                continue;
            };
            stack.push((service, next + 1));
            let dependency = self.find(dependency)?;
            match states.get(dependency.name.as_str()) {
                Some(true) => {}
                Some(false) => {
                    let names = stack.iter().map(|(service, _)| service.name.as_str());
                    let members = names.skip_while(|name| *name != dependency.name);
                    let members: Vec<String> =
                        members.chain([dependency.name.as_str()]).map(|name| format!("`{name}`")).collect();
                    let message =
                        format!("services depend on each other in a cycle: {}", members.join(" depends on "));
                    return Err(Error::new(ErrorKind::Usage, message));
                }
                None => stack.push((dependency, 0)),
            }
        }
        Ok(order)
    }
}

fn has_name(names: &[String], attribute: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(attribute))
}

#[cfg(test)]
mod tests {
    use super::super::ready;
    use super::*;

    fn services() -> Services {
        let mut generators = Generators::new();
        generators.add("homeDirectory", &["uid"], ready::from_attribute("uid", "/home/", ""));
        generators.add("mailLocalAddress", &["uid"], ready::from_attribute("uid", "", "@example.net"));
        let mut services = Services::new(generators);
        services.add(
            Service::new("posix")
                .value("objectClass", "posixAccount")
                .value("loginShell", "/bin/sh")
                .generate("homeDirectory"),
        );
        services.add(
            Service::new("mail")
                .value("objectClass", "inetLocalMailRecipient")
                .generate("mailLocalAddress")
                .depends("posix"),
        );
        services.add(Service::new("list").value("mailList", "all").depends("mail"));
        services.add(Service::new("shell").value("loginShell", "/bin/sh"));
        services
    }

    fn ada() -> Draft {
        Draft::new("uid=ada,o=test", [("objectClass", vec!["account"]), ("uid", vec!["ada"])])
    }

    #[test]
    fn added_and_removed() {
        let services = services();
        let mut draft = ada();
        assert_eq!(services.add_service(&mut draft, "mail").unwrap(), ["posix", "mail"]);
        assert!(
            draft.has_value("mailLocalAddress", "ada@example.net")
                && draft.has_value("objectClass", "POSIXaccount")
        );
        assert_eq!(services.services(&draft).unwrap(), ["posix", "mail", "shell"]);
        // Twice is once.
        let before = draft.clone();
        assert!(services.add_service(&mut draft, "mail").unwrap().is_empty());
        assert_eq!(draft, before);
        assert_eq!(services.add_service(&mut draft, "list").unwrap(), ["list"]);
        // Dependants go first; what `shell` has too stays.
        assert_eq!(services.remove_service(&mut draft, "posix").unwrap(), ["list", "mail", "posix"]);
        assert_eq!(services.services(&draft).unwrap(), ["shell"]);
        assert!(draft.has_value("loginShell", "/bin/sh") && !draft.has("homeDirectory"));
        assert!(services.remove_service(&mut draft, "posix").unwrap().is_empty());
        services.remove_service(&mut draft, "shell").unwrap();
        assert!(draft.modifications().is_empty(), "{:?}", draft.modifications());
    }

    #[test]
    fn what_is_there_wins() {
        let services = services();
        let mut draft = ada();
        draft.set("homeDirectory", ["/srv/ada"]);
        services.add_service(&mut draft, "posix").unwrap();
        assert!(draft.has_value("homeDirectory", "/srv/ada"));
        assert!(
            services.has_service(&draft, "posix").unwrap() && !services.has_service(&draft, "mail").unwrap()
        );
    }

    #[test]
    fn faults() {
        let mut services = services();
        services.add(Service::new("a").depends("b"));
        services.add(Service::new("b").depends("a"));
        services.add(Service::new("c").depends("d"));
        services.add(Service::new("e").value("l", "x").generate("nothing"));
        let mut draft = ada();
        for (name, message) in [
            ("a", "services depend on each other in a cycle: `a` depends on `b` depends on `a`"),
            ("c", "unknown service `d`; known: posix, mail, list, shell, a, b, c, e"),
            ("e", "no generator of `nothing`"),
        ] {
            assert_eq!(services.add_service(&mut draft, name).unwrap_err().message(), message);
            assert_eq!(draft, ada());
        }
    }
}
