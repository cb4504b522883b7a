//! Encoding instructions of the model → those of each place of the shape (X.693 clauses 13 to 16, X.697 clause 13).

use crate::shape::{Lowered, Source};
use tercet_model::instructions::{
    Instruction, InstructionKind, InstructionRules, NewName, Site, TextOf, Whitespace as ModelWhitespace,
};
use tercet_model::ir::{Model, TypeId};
use tercet_plan::instructions::{Instructions, Json, Places, Whitespace, Xml};
use tercet_plan::{FieldId, NameId, NodeId};
use tercet_syntax::Diagnostic;

/// Makes the tables; nothing if the model has no instructions.
pub(crate) fn lower(lowered: &mut Lowered<'_>, model: &Model) {
    if model.instructions.is_empty() {
        return;
    }
    let mut out = Instructions::default();
    let fields: Vec<Place> = (0..lowered.shape.fields.len() as u32)
        .map(|index| {
            let id = FieldId(index);
            let field = lowered.shape.field(id);
            let ty = match lowered.sources.get(id.index()) {
                Some(Source::Type(ty)) => Some(*ty),
                _ => None,
            };
            let owner = lowered.owners.get(&field.parent).copied();
            let number = index - lowered.shape.node(field.parent).first;
            let part = owner.map(|owner| Site::Part(owner, number));
            Place { node: field.node, ty, part, name: lowered.shape.name(field.name).to_owned() }
        })
        .collect();
    let mut bare: Vec<(NodeId, TypeId)> = lowered.bare_types.clone();
    bare.sort_by_key(|(node, _)| *node);
    bare.dedup_by_key(|(node, _)| *node);
    let of_rules = |rules| model.instructions.has(rules);
    if of_rules(InstructionRules::Jer) {
        let fields = fields.iter().map(|place| json(lowered, model, place)).collect();
        let nodes =
            bare.iter().map(|&(node, ty)| (node, json(lowered, model, &Place::bare(node, ty)))).collect();
        out.json = Some(Places { fields, nodes, other: Json::default() });
    }
    if of_rules(InstructionRules::Xer) {
        let fields = fields.iter().map(|place| xml(lowered, model, place, &mut out)).collect();
        let nodes = bare
            .iter()
            .map(|&(node, ty)| (node, xml(lowered, model, &Place::bare(node, ty), &mut out)))
            .collect();
        out.xml = Some(Places { fields, nodes, other: Xml::default() });
        let control = model.modules.iter().enumerate().find_map(|(index, _)| {
            let defaults = model.instructions.defaults(tercet_model::ir::ModuleId(index as u32))?;
            defaults.control_namespace.as_ref()?.1.clone()
        });
        out.control_prefix = control.map(|prefix| lowered.name(&prefix));
    }
    lowered.shape.instructions = Some(Box::new(out));
}

/// A place that a value can stand at.
struct Place {
    node: NodeId,
    ty: Option<TypeId>,
    part: Option<Site>,
    /// The identifier, or the name of the type.
    name: String,
}

impl Place {
    fn bare(node: NodeId, ty: TypeId) -> Self {
        Self { node, ty: Some(ty), part: None, name: String::new() }
    }

    /// The instructions of a place from the inside out, each with whether it stands behind no name of a type: the last of
    /// a kind holds (X.693 clause 16).
    fn instructions<'m>(&self, model: &'m Model, rules: InstructionRules) -> Vec<(&'m Instruction, bool)> {
        let mut found = Vec::new();
        let chain: Vec<TypeId> = self.ty.into_iter().flat_map(|ty| model.alias_chain(ty)).collect();
        let own = chain.iter().take_while(|at| model.ty(**at).name.is_none()).count();
        for (depth, at) in chain.iter().enumerate().rev() {
            let list = model.instructions.at(Site::Type(*at));
            found.extend(list.iter().map(|instruction| (instruction, depth < own)));
        }
        let part = self.part.map_or(&[][..], |part| model.instructions.at(part));
        found.extend(part.iter().map(|instruction| (instruction, true)));
        found.retain(|(instruction, _)| instruction.rules == rules);
        found
    }

    /// The numbers and names of items that TEXT is about.
    fn items(&self, lowered: &Lowered<'_>, of: &TextOf) -> Vec<(i64, String)> {
        let shape = &lowered.shape;
        let mut items: Vec<(i64, String)> = shape
            .items_of(self.node)
            .iter()
            .map(|item| (item.value, shape.name(item.name).to_owned()))
            .collect();
        if shape.node(self.node).kind == tercet_plan::Kind::Boolean {
            items.extend([(0, "false".to_owned()), (1, "true".to_owned())]);
        }
        items.retain(|(_, name)| match of {
            TextOf::Item(item) => item == name,
            TextOf::Form | TextOf::All => true,
        });
        items
    }

    fn rename(&self, lowered: &mut Lowered<'_>, of: &TextOf, new: &NewName, texts: &mut Vec<(i64, NameId)>) {
        for (number, old) in self.items(lowered, of) {
            let name = lowered.name(&new.of(&old));
            match texts.iter_mut().find(|text| text.0 == number) {
                Some(text) => text.1 = name,
                None => texts.push((number, name)),
            }
        }
    }
}

fn json(lowered: &mut Lowered<'_>, model: &Model, place: &Place) -> Json {
    let mut json = Json::default();
    for (Instruction { kind, negated, .. }, own) in place.instructions(model, InstructionRules::Jer) {
        match kind {
            InstructionKind::Array => json.array = !negated,
            InstructionKind::Object => json.object = !negated,
            InstructionKind::Unwrapped => json.unwrapped = !negated,
            InstructionKind::Base64 => json.base64 = !negated,
            InstructionKind::Name(new) if own => {
                json.name = (!negated).then(|| lowered.name(&new.of(&place.name)));
            }
            InstructionKind::Text(_, _) if *negated => json.texts.clear(),
            InstructionKind::Text(of, Some(new)) => place.rename(lowered, of, new, &mut json.texts),
            _ => {}
        }
    }
    json
}

fn xml(lowered: &mut Lowered<'_>, model: &Model, place: &Place, out: &mut Instructions) -> Xml {
    let mut xml = Xml::default();
    let identifier = place.name.starts_with(|first: char| first.is_ascii_lowercase());
    if let Some(ty) = place.ty {
        let base = model.ty(model.base(ty));
        xml.modified =
            model.instructions.defaults(base.module).is_some_and(|defaults| defaults.modified_encodings);
        xml.text = xml.modified;
        if !identifier {
            // The outermost name on the way to the type.
            let name = model.alias_chain(ty).find_map(|at| model.ty(at).name.as_ref());
            xml.name = name.map(|name| lowered.name(&name.name));
        }
    }
    for (Instruction { kind, negated, span, .. }, own) in place.instructions(model, InstructionRules::Xer) {
        match kind {
            // What a named type says of its name holds where no identifier stands before it (28.2, 29.2).
            InstructionKind::Name(new) if own || !identifier => {
                let old = xml.name.map(|name| lowered.shape.name(name).to_owned());
                let old = old.filter(|_| !identifier).unwrap_or_else(|| place.name.clone());
                xml.name = (!negated || !identifier).then(|| lowered.name(&new.of(&old)));
            }
            InstructionKind::Namespace(uri, prefix) if own || !identifier => {
                xml.namespace = (!negated && !uri.is_empty()).then(|| {
                    let entry = (lowered.name(uri), prefix.as_ref().map(|prefix| lowered.name(prefix)));
                    let at = out.namespaces.iter().position(|known| known.0 == entry.0);
                    at.unwrap_or_else(|| {
                        out.namespaces.push(entry);
                        out.namespaces.len() - 1
                    }) as u32
                });
            }
            InstructionKind::Name(_) | InstructionKind::Namespace(..) => {}
            InstructionKind::Attribute => xml.attribute = !negated,
            InstructionKind::Untagged => xml.untagged = !negated,
            InstructionKind::List => xml.list = !negated,
            InstructionKind::Base64 => xml.base64 = !negated,
            InstructionKind::Decimal => xml.decimal = !negated,
            InstructionKind::UseNil => xml.use_nil = !negated,
            InstructionKind::UseNumber => xml.use_number = !negated,
            InstructionKind::UseOrder => xml.use_order = !negated,
            InstructionKind::UseType => xml.use_type = !negated,
            InstructionKind::UseUnion => xml.use_union = !negated,
            InstructionKind::DefaultForEmpty(text) => {
                xml.default_for_empty = (!negated).then(|| lowered.name(text));
            }
            InstructionKind::Whitespace(action) => {
                xml.whitespace = match action {
                    _ if *negated => Whitespace::Preserve,
                    ModelWhitespace::Replace => Whitespace::Replace,
                    ModelWhitespace::Collapse => Whitespace::Collapse,
                };
            }
            InstructionKind::Text(_, _) if *negated => xml.texts.clear(),
            InstructionKind::Text(of, new) => {
                xml.text = true;
                if let Some(new) = new {
                    place.rename(lowered, of, new, &mut xml.texts);
                }
            }
            InstructionKind::AnyAttributes
            | InstructionKind::AnyElement
            | InstructionKind::Element
            | InstructionKind::EmbedValues
            | InstructionKind::PiOrComment
            | InstructionKind::UseQname => {
                let word = word(kind);
                let name = lowered.name(word);
                if !negated && !out.unsupported.contains(&name) {
                    out.unsupported.push(name);
                }
                if !negated && lowered.unsupported.iter().all(|known| known.primary.span != *span) {
                    let message =
                        format!("the encoding instruction `{word}` is not supported in extended XER");
                    lowered.unsupported.push(Diagnostic::error("E0603", *span, message));
                }
            }
            InstructionKind::Array | InstructionKind::Object | InstructionKind::Unwrapped => {}
        }
    }
    xml
}

fn word(kind: &InstructionKind) -> &'static str {
    match kind {
        InstructionKind::AnyAttributes => "ANY-ATTRIBUTES",
        InstructionKind::AnyElement => "ANY-ELEMENT",
        InstructionKind::Element => "ELEMENT",
        InstructionKind::EmbedValues => "EMBED-VALUES",
        InstructionKind::PiOrComment => "PI-OR-COMMENT",
        _ => "USE-QNAME",
    }
}
