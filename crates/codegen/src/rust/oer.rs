//! Codecs for OER.

mod read;
mod times;
mod write;

use super::names::snake;
use super::{At, Printer, RootType};
use crate::types::Repr;
use std::collections::BTreeSet;
use tercet_plan::oer::{Code, Program, Size, VARIABLE};
use tercet_plan::{FieldId, Kind, NodeId};

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let nodes: Vec<NodeId> = p.types.nodes().collect();
    let mut oer = Oer { p, program };
    oer.times();
    for node in nodes {
        oer.node(node);
    }
    for root in oer.p.roots.clone() {
        oer.root(&root);
    }
}

struct Oer<'p, 'm> {
    p: &'p mut Printer<'m>,
    program: &'p Program,
}

impl Oer<'_, '_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.p.text.line(line);
    }

    fn open(&mut self, line: impl AsRef<str>) {
        self.p.text.open(line);
    }

    fn close(&mut self, line: impl AsRef<str>) {
        self.p.text.close(line);
    }

    fn code(&self, node: NodeId) -> Code {
        self.program.nodes[self.p.types.same(node).index()]
    }

    fn node(&mut self, node: NodeId) {
        let name = self.p.names.ty(node).to_owned();
        let lifetime = self.p.lifetime(node, "'a");
        let (generic, reader) = if lifetime.is_empty() { ("", "'_") } else { ("<'a>", "'a") };
        let keys = self.p.key_parameters(node);
        let repr = self.p.types.repr(node);
        match repr {
            Repr::Struct | Repr::Choice | Repr::Table(_) => {
                self.line("");
                self.open(format!("impl{generic} {name}{lifetime} {{"));
                self.open(format!("fn read_oer(r: &mut oer::Reader<{reader}>{keys}) -> Result<Self> {{"));
                let counted = self.p.types.is_counted_whole(node);
                if counted {
                    self.line("r.enter()?;");
                }
                match (repr, self.code(node)) {
                    (Repr::Struct, Code::Sequence(code)) => self.read_struct(node, code),
                    (Repr::Choice, Code::Choice(code)) => self.read_choice(node, code),
                    (Repr::Table(table), _) => self.read_table(node, table),
                    _ => self.line("let value = Err(r.error(ErrorKind::Unsupported))?;"),
                }
                if counted {
                    self.line("r.leave();");
                }
                self.line("Ok(value)");
                self.close("}");
                self.open("fn write_oer(&self, w: &mut oer::Writer) -> Result<()> {");
                if counted {
                    self.line("w.begin_value()?;");
                }
                match (repr, self.code(node)) {
                    (Repr::Struct, Code::Sequence(code)) => self.write_struct(node, code),
                    (Repr::Choice, Code::Choice(code)) => self.write_choice(node, code),
                    (Repr::Table(table), _) => self.write_table(node, table),
                    _ => self.line("return Err(Error::new(ErrorKind::Unsupported, 0));"),
                }
                if counted {
                    self.line("w.end_value();");
                }
                self.line("Ok(())");
                self.close("}");
                if let (Repr::Choice, Code::Choice(code)) = (repr, self.code(node)) {
                    self.tag_of(node, code);
                }
                self.close("}");
            }
            Repr::List => self.list(node, generic, reader, &keys),
            _ => {}
        }
    }

    fn function(&self, node: NodeId) -> String {
        snake(self.p.names.ty(self.p.types.same(node))).trim_start_matches("r#").to_owned()
    }

    fn no_keys(&self, node: NodeId) -> String {
        self.p.key_arguments(node, &|_| None, &BTreeSet::new())
    }

    fn member_field(&self, node: NodeId, number: u32) -> FieldId {
        FieldId(self.p.types.shape.node(node).first + number)
    }

    fn list(&mut self, node: NodeId, generic: &str, reader: &str, keys: &str) {
        let function = self.function(node);
        let element = self.p.types.element(node);
        let ordered = self.p.types.shape.node(node).kind == Kind::SetOf;
        let ty = self.p.list(node, &self.p.ty(element, "'a"), "'a");
        let lazy = self.p.types.is_lazy(node);
        let arguments = self.p.key_arguments(element, &|_| None, self.p.types.keys(node));
        let value = self.read(element, &arguments, At::Nothing);
        self.line("");
        self.open(format!(
            "fn read_oer_{function}{generic}(r: &mut oer::Reader<{reader}>{keys}) -> Result<{ty}> {{"
        ));
        let counted = self.p.types.is_counted(node);
        if counted {
            self.line("r.enter()?;");
        }
        self.line(format!("let list = r.list({ordered}, |r| Ok({value}))?;"));
        if counted {
            self.line("r.leave();");
        }
        self.line(if lazy { "Ok(list.into())" } else { "Ok(list)" });
        self.close("}");
        self.line("");
        let ty = self.p.ty(element, "'_");
        let list = if lazy { format!("SequenceOf<'_, {ty}>") } else { format!("[{ty}]") };
        self.open(format!("fn write_oer_{function}(list: &{list}, w: &mut oer::Writer) -> Result<()> {{"));
        if lazy {
            self.line("let list = &list.to_vec()?[..];");
        }
        if counted {
            self.line("w.begin_value()?;");
        }
        self.open(format!("w.list({ordered}, list, |v, w| {{"));
        self.write(element, "v", At::Nothing);
        self.line("Ok(())");
        if counted {
            self.close("})?;");
            self.line("w.end_value();");
            self.line("Ok(())");
        } else {
            self.close("})");
        }
        self.close("}");
    }

    // Roots

    fn root(&mut self, root: &RootType) {
        let RootType { node: root, name, wraps: wrapped, .. } = root.clone();
        let node = self.p.types.same(root);
        let lifetime = self.p.lifetime(node, "'a");
        self.line("");
        self.open(format!("impl<'a> codec::OerType<'a> for {name}{lifetime} {{"));
        let known = self.p.name_const(root);
        self.line(known);
        self.line("");
        self.open("fn read(r: &mut oer::Reader<'a>) -> Result<Self> {");
        let value = self.read(root, &self.no_keys(root), At::Nothing);
        self.line(format!("let v = {value};"));
        self.line(if wrapped { "Ok(Self(v))" } else { "Ok(v)" });
        self.close("}");
        self.line("");
        self.open("fn write(&self, w: &mut oer::Writer) -> Result<()> {");
        self.write(root, if wrapped { "&self.0" } else { "self" }, At::Nothing);
        self.line("Ok(())");
        self.close("}");
        self.close("}");
    }
}

/// The literal of a size.
fn sized(size: Size) -> String {
    if size == VARIABLE { "oer::VARIABLE".into() } else { size.to_string() }
}

fn tag_text(tag: u32) -> String {
    let class = ["universal", "application", "context", "private"][(tag >> 30) as usize];
    format!("Tag::{class}({})", tag & 0x1FFF_FFFF)
}
