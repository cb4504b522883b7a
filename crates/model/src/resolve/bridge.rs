//! Fields by reference.

use super::Resolver;
use super::lookup::{Binding, Scope};
use crate::ir::Setting;
use tercet_syntax::ast;

impl<'a> Resolver<'a> {
    /// What a field of an object is set to; `None` for anything but an object, or when the field is not set.
    pub(crate) fn setting_of(
        &mut self,
        scope: &Scope<'a>,
        object: &'a ast::Reference,
        path: &'a [ast::Ident],
    ) -> Option<Setting> {
        match self.lookup(scope, object)? {
            Binding::Object(id) if self.ensure_object(id, object.span) => self.field_of_object(id, path),
            _ => None,
        }
    }
}
