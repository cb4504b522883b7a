//! Classes of ENUMERATED types.

use super::Class;
use crate::java::text::Lines;
use crate::java::text::comment;

impl Class<'_, '_> {
    pub(super) fn enumerated(&mut self) {
        let p = self.p;
        let name = p.names.ty(self.node).to_owned();
        let shape = p.types.shape;
        let extensible = shape.node(self.node).extensible;
        let items: Vec<(i64, &str, &str)> = shape
            .items_of(self.node)
            .iter()
            .map(|item| (item.value, shape.name(item.name), p.names.item(self.node, item.value)))
            .collect();
        let returns = |line: &str| vec![line.to_owned(), String::new(), "@return the number".into()];
        if extensible {
            self.open(format!("public sealed interface {name} extends Asn1Value {{"));
            for (_, said, item) in &items {
                self.text.doc(&[format!("{}.", comment(said))]);
                self.line(format!("{name} {item} = Known.{item};"));
                self.line("");
            }
            if self.is_root {
                self.text.doc(&["Decodes and encodes values.".into()]);
                self.line(format!("Asn1Type<{name}> TYPE = {name}Codec.TYPE;"));
                self.line("");
            }
            self.text.doc(&returns("Returns the number of the item."));
            self.line("long number();");
            if self.is_root {
                self.root_methods(&name, "");
            }
            self.of(&name, "", &items, true);
            self.line("");
            self.text.doc(&["The items that the specification has.".into()]);
            self.open(format!("enum Known implements {name} {{"));
            self.items("Known", &items);
            self.close("}");
            self.line("");
            self.text.doc(&[
                "An item of a later version.".into(),
                String::new(),
                "@param number its number".into(),
            ]);
            self.line(format!("record Unknown(long number) implements {name} {{}}"));
            if p.numbers_additions {
                self.line("");
                self.text.doc(&[
                    "An item of a later version that has come without its number.".into(),
                    String::new(),
                    "@param addition its number among the extension additions, from 0".into(),
                ]);
                self.open(format!("record UnknownAddition(int addition) implements {name} {{"));
                self.text.doc(&["Returns -1, as the number of the item is not known.".into()]);
                self.line("@Override");
                self.open("public long number() {");
                self.line("return -1;");
                self.close("}");
                self.close("}");
            }
        } else {
            self.open(format!("public enum {name} implements Asn1Value {{"));
            self.items(&name, &items);
            self.of(&name, "public ", &items, false);
            self.type_of_root(&name);
        }
        self.close("}");
    }

    /// The items of an enum and what each has.
    fn items(&mut self, name: &str, items: &[(i64, &str, &str)]) {
        for (at, (value, said, item)) in items.iter().enumerate() {
            self.text.doc(&[format!("{}.", comment(said))]);
            let end = if at + 1 < items.len() { "," } else { ";" };
            self.line(format!("{item}({value}L){end}"));
        }
        self.line("");
        self.line("private final long number;");
        self.line("");
        self.open(format!("{name}(long number) {{"));
        self.line("this.number = number;");
        self.close("}");
        self.line("");
        if name == "Known" {
            self.line("@Override");
        } else {
            self.text.doc(&[
                "Returns the number of the item.".into(),
                String::new(),
                "@return the number".into(),
            ]);
        }
        self.open("public long number() {");
        self.line("return number;");
        self.close("}");
    }

    fn of(&mut self, name: &str, public: &str, items: &[(i64, &str, &str)], extensible: bool) {
        self.line("");
        let unknown = if extensible { "" } else { ", or null if there is none" };
        self.text.doc(&[
            "Returns the item with a number.".into(),
            String::new(),
            "@param number the number".into(),
            format!("@return the item{unknown}"),
        ]);
        let nullable = if extensible { "" } else { "@Nullable " };
        self.open(format!("{public}static {nullable}{name} of(long number) {{"));
        let other = if extensible { "new Unknown(number)" } else { "null" };
        let is_small = items.len() <= 300 && items.iter().all(|(value, ..)| i32::try_from(*value).is_ok());
        if is_small && !items.is_empty() {
            self.open(format!("return number != (int) number ? {other} : switch ((int) number) {{"));
            for (value, _, item) in items {
                self.line(format!("case {value} -> {item};"));
            }
            self.line(format!("default -> {other};"));
            self.close("};");
        } else {
            let (known, values) = if extensible { ("Known", "Known.values()") } else { (name, "values()") };
            self.open(format!("for ({known} item : {values}) {{"));
            self.open("if (item.number == number) {");
            self.line("return item;");
            self.close("}");
            self.close("}");
            self.line(format!("return {other};"));
        }
        self.close("}");
    }
}
