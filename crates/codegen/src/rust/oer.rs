//! Codecs for OER: spells the steps of [`crate::code::oer`].

mod read;
mod times;
mod write;

use super::imports::{CODEC, ERROR, ERROR_KIND, OER, RESULT, SEQUENCE_OF, TAG};
use super::{At, Printer, RootType};
use crate::code::Source;
use crate::code::oer::{Body, Code, List, Value};
use tercet_plan::NodeId;
use tercet_plan::oer::{Program, Size, VARIABLE};

pub(super) fn print(p: &mut Printer<'_>, program: &Program) {
    let presence = p.presence();
    let roots: Vec<NodeId> = p.roots.iter().map(|root| root.node).collect();
    let code = Code::new(Source { types: &p.types, presence: &presence }, program, &roots);
    let mut oer = Oer { p };
    oer.times(&code.times);
    for (node, body) in &code.bodies {
        oer.node(*node, body);
    }
    for (root, value) in oer.p.roots.clone().iter().zip(&code.roots) {
        oer.root(root, value);
    }
}

struct Oer<'p, 'm> {
    p: &'p mut Printer<'m>,
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

    fn node(&mut self, node: NodeId, body: &Body<'_>) {
        let counted = match body {
            Body::List(list) => return self.list(node, list),
            Body::Struct(code) => code.counted,
            Body::Choice(code) => code.counted,
            // A table counts where its content is known.
            Body::Table(_) => false,
            Body::Unsupported(counted) => *counted,
        };
        let name = self.p.names.ty(node).to_owned();
        let lifetime = self.p.lifetime(node, "'a");
        let (generic, reader) = if lifetime.is_empty() { ("", "'_") } else { ("<'a>", "'a") };
        let keys = self.p.key_parameters(node);
        self.line("");
        self.open(format!("impl{generic} {name}{lifetime} {{"));
        self.open(format!("fn read_oer(r: &mut {OER}::Reader<{reader}>{keys}) -> {RESULT}<Self> {{"));
        if counted {
            self.line("r.enter()?;");
        }
        match body {
            Body::Struct(code) => self.read_struct(node, code),
            Body::Choice(code) => self.read_choice(node, code),
            Body::Table(code) => self.read_table(node, code),
            _ => self.line(format!("let value = Err(r.error({ERROR_KIND}::Unsupported))?;")),
        }
        if counted {
            self.line("r.leave();");
        }
        self.line("Ok(value)");
        self.close("}");
        self.open(format!("fn write_oer(&self, w: &mut {OER}::Writer) -> {RESULT}<()> {{"));
        if counted {
            self.line("w.begin_value()?;");
        }
        match body {
            Body::Struct(code) => self.write_struct(node, code),
            Body::Choice(code) => self.write_choice(code),
            Body::Table(code) => self.write_table(node, code),
            _ => self.line(format!("return Err({ERROR}::new({ERROR_KIND}::Unsupported, 0));")),
        }
        if counted {
            self.line("w.end_value();");
        }
        self.line("Ok(())");
        self.close("}");
        if let Body::Choice(code) = body {
            self.tag_of(code);
        }
        self.close("}");
    }

    fn list(&mut self, node: NodeId, code: &List) {
        let List { counted, set, .. } = *code;
        let lifetime = self.p.lifetime(node, "'a");
        let (generic, reader) = if lifetime.is_empty() { ("", "'_") } else { ("<'a>", "'a") };
        let keys = self.p.key_parameters(node);
        let function = self.p.list_function(node);
        let element = self.p.types.element(node);
        let ty = self.p.list(node, &self.p.ty(element, "'a"), "'a");
        let lazy = self.p.types.is_lazy(node);
        let value = self.read(&code.element, At::Nothing);
        self.line("");
        self.open(format!(
            "fn read_oer_{function}{generic}(r: &mut {OER}::Reader<{reader}>{keys}) -> {RESULT}<{ty}> {{"
        ));
        if counted {
            self.line("r.enter()?;");
        }
        self.line(format!("let list = r.list({set}, |r| Ok({value}))?;"));
        if counted {
            self.line("r.leave();");
        }
        self.line(if lazy { "Ok(list.into())" } else { "Ok(list)" });
        self.close("}");
        self.line("");
        let ty = self.p.ty(element, "'_");
        let list = if lazy { format!("{SEQUENCE_OF}<'_, {ty}>") } else { format!("[{ty}]") };
        self.open(format!(
            "fn write_oer_{function}(list: &{list}, w: &mut {OER}::Writer) -> {RESULT}<()> {{"
        ));
        if lazy {
            self.line("let list = &list.to_vec()?[..];");
        }
        if counted {
            self.line("w.begin_value()?;");
        }
        self.open(format!("w.list({set}, list, |v, w| {{"));
        self.write(&code.element, "v", At::Nothing);
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

    fn root(&mut self, root: &RootType, value: &Value) {
        let RootType { node, name, wraps, .. } = root;
        let lifetime = self.p.lifetime(*node, "'a");
        self.line("");
        self.open(format!("impl<'a> {CODEC}::OerType<'a> for {name}{lifetime} {{"));
        let known = self.p.name_const(*node);
        self.line(known);
        self.line("");
        self.open(format!("fn read(r: &mut {OER}::Reader<'a>) -> {RESULT}<Self> {{"));
        let read = self.read(value, At::Nothing);
        self.line(format!("let v = {read};"));
        self.line(if *wraps { "Ok(Self(v))" } else { "Ok(v)" });
        self.close("}");
        self.line("");
        self.open(format!("fn write(&self, w: &mut {OER}::Writer) -> {RESULT}<()> {{"));
        self.write(value, if *wraps { "&self.0" } else { "self" }, At::Nothing);
        self.line("Ok(())");
        self.close("}");
        self.close("}");
    }
}

/// The literal of a size.
fn sized(size: Size) -> String {
    if size == VARIABLE { format!("{OER}::VARIABLE") } else { size.to_string() }
}

fn tag_text(tag: u32) -> String {
    let class = ["universal", "application", "context", "private"][(tag >> 30) as usize];
    format!("{TAG}::{class}({})", tag & 0x1FFF_FFFF)
}
