//! Reading of ENUMERATED types.

use crate::code::per::Enumerated;
use crate::java::ITEMS;
use crate::java::per::Per;
use crate::java::text::Lines;
use std::collections::HashMap;
use tercet_plan::NodeId;

impl Per<'_, '_, '_> {
    /// The items and their numbers in a class: arrays of so many would need too much code.
    fn many_items(&mut self, name: &str, code: &Enumerated, numbers: &[String]) {
        let class = if code.extensible { format!("{name}.Known") } else { name.to_owned() };
        let parts: Vec<String> =
            numbers.chunks(ITEMS).map(|numbers| format!("\"{}\"", numbers.join(" "))).collect();
        self.open("private static final class PerItems {");
        self.line(format!("static final {name}[] ROOT = new {name}[{}];", code.root.len()));
        if code.extensible {
            self.line(format!("static final {name}[] ADDED = new {name}[{}];", code.additions.len()));
        }
        self.line(format!("static final int[] NUMBERS = PerReader.numbers({});", parts.join(", ")));
        self.line("");
        self.open("static {");
        self.open(format!("for ({class} item : {class}.values()) {{"));
        self.line("int number = NUMBERS[item.ordinal()];");
        if code.extensible {
            self.open("if (number < 0) {");
            self.line("ADDED[~number] = item;");
            self.text.reopen("} else {");
            self.line("ROOT[number] = item;");
            self.close("}");
        } else {
            self.line("ROOT[number] = item;");
        }
        self.close("}");
        self.close("}");
        self.close("}");
    }

    pub(in crate::java::per) fn enumerated(&mut self, node: NodeId, code: &Enumerated) {
        let (rules, name) = (self.rules, self.p.names.ty(node).to_owned());
        let item = |this: &Self, value: &i64| format!("{name}.{}", this.p.names.item(node, *value));
        let listed = |this: &Self, values: &[i64]| {
            values.iter().map(|value| item(this, value)).collect::<Vec<_>>().join(", ")
        };
        let class = if code.root.len() + code.additions.len() > ITEMS { "PerItems." } else { "" };
        if self.p.printed.insert(format!("per items {}", node.0)) {
            // By the place of the item in the notation; that of an addition with all bits turned.
            let position =
                |values: &[i64]| -> HashMap<i64, i64> { values.iter().copied().zip(0..).collect() };
            let (root, added) = (position(&code.root), position(&code.additions));
            let number = |value: i64| match root.get(&value) {
                Some(number) => *number,
                None => !added.get(&value).copied().unwrap_or_default(),
            };
            let items = self.p.types.shape.items_of(node);
            let numbers: Vec<String> = items.iter().map(|item| number(item.value).to_string()).collect();
            if class.is_empty() {
                let (root, added) = (listed(self, &code.root), listed(self, &code.additions));
                self.line(format!("private static final {name}[] ROOT = {{{root}}};"));
                if code.extensible {
                    self.line(format!("private static final {name}[] ADDED = {{{added}}};"));
                }
                self.line(format!("private static final int[] NUMBERS = {{{}}};", numbers.join(", ")));
            } else {
                self.many_items(&name, code, &numbers);
            }
            self.line("");
        }
        let whole = self.whole(code.whole);
        self.open(format!("static {name} read{rules}(PerReader r) throws Asn1Exception {{"));
        if code.extensible {
            self.open("if (r.bit()) {");
            self.line("int number = r.smallNumber();");
            self.line(format!(
                "return number < {class}ADDED.length ? {class}ADDED[number] : new {name}.UnknownAddition(number);"
            ));
            self.close("}");
        }
        self.line(format!("return {class}ROOT[r.item({whole}, {class}ROOT.length, {})];", code.extensible));
        self.close("}");
        self.line("");
        self.open(format!("static void write{rules}(PerWriter w, {name} value) throws Asn1Exception {{"));
        if code.extensible {
            self.open(format!("if (value instanceof {name}.UnknownAddition addition) {{"));
            self.line("w.addedItem(addition.addition());");
            self.line("return;");
            self.close("}");
            self.open(format!("if (!(value instanceof {name}.Known known)) {{"));
            self.line("throw w.error(ErrorKind.UNKNOWN_ENUMERATION);");
            self.close("}");
            self.line(format!("int number = {class}NUMBERS[known.ordinal()];"));
            self.open("if (number < 0) {");
            self.line("w.addedItem(~number);");
            self.line("return;");
            self.close("}");
            self.line("w.bit(false);");
            self.line(format!("w.whole({whole}, number);"));
        } else {
            self.line(format!("w.whole({whole}, {class}NUMBERS[value.ordinal()]);"));
        }
        self.close("}");
    }
}
