//! Information object classes, objects and object sets (X.681).

use crate::ir::{self, ClassId, ObjectId, ObjectSetId};
use crate::resolve::{Resolver, Scope};
use tercet_syntax::ast;

impl<'a> Resolver<'a> {
    /// Fills the class.
    pub(crate) fn define_class(&mut self, _id: ClassId, _scope: &Scope<'a>, _class: &'a ast::ObjectClass) {}

    /// Fills the object, whose class is set.
    pub(crate) fn define_object(&mut self, _id: ObjectId, _scope: &Scope<'a>, _value: &'a ast::Value) {}

    /// Fills the object set.
    pub(crate) fn define_object_set(
        &mut self,
        _id: ObjectSetId,
        _scope: &Scope<'a>,
        _set: &'a ast::ElementSet,
        _class: ClassId,
    ) {
    }

    /// What a path of field names leads to.
    pub(crate) fn field_of_object(&mut self, _object: ObjectId, _path: &[ast::Ident]) -> Option<ir::Setting> {
        None
    }
}
