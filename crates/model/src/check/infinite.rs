//! Types without a finite value: a component that must be there needs the type itself again.

use super::Checker;
use crate::ir::{Presence, TypeId, TypeKind};
use tercet_syntax::Diagnostic;

impl Checker<'_> {
    /// Types have finite values unless proved otherwise: those without components have, and what is built of such
    /// types has. The proof runs backwards from type to user, each edge once.
    pub(super) fn infinite_types(&mut self) {
        let types = &self.model.types;
        // What each type still waits for, and who waits for it: `users` from `ends[id - 1]` to `ends[id]`, once filled.
        let mut waits: Vec<u32> = vec![0; types.len()];
        let mut ends: Vec<u32> = vec![0; types.len() + 1];
        let mut finite: Vec<u32> = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            let mut count = 0;
            self.needs(TypeId(index as u32), |needed| {
                count += 1;
                ends[needed.index() + 1] += 1;
            });
            waits[index] = if matches!(ty.kind, TypeKind::Choice(_)) { count.min(1) } else { count };
            if waits[index] == 0 {
                finite.push(index as u32);
            }
        }
        for index in 1..ends.len() {
            ends[index] += ends[index - 1];
        }
        let mut users: Vec<u32> = vec![0; ends[types.len()] as usize];
        for index in 0..types.len() as u32 {
            self.needs(TypeId(index), |needed| {
                let end = &mut ends[needed.index()];
                users[*end as usize] = index;
                *end += 1;
            });
        }
        while let Some(id) = finite.pop() {
            let from = (id as usize).checked_sub(1).map_or(0, |before| ends[before]);
            for &user in &users[from as usize..ends[id as usize] as usize] {
                let wait = &mut waits[user as usize];
                if *wait > 0 {
                    *wait -= 1;
                    if *wait == 0 {
                        finite.push(user);
                    }
                }
            }
        }
        self.report_circles(&waits);
    }

    /// Calls back with the types a value cannot do without; for a CHOICE, with those one of which it needs.
    fn needs(&self, id: TypeId, mut each: impl FnMut(TypeId)) {
        match &self.model.ty(id).kind {
            TypeKind::Reference(next) => each(*next),
            TypeKind::Sequence(components) | TypeKind::Set(components) => components
                .list
                .iter()
                .filter(|c| matches!(c.presence, Presence::Mandatory))
                .filter(|c| c.place == crate::ir::Place::Root)
                .for_each(|c| each(c.ty)),
            TypeKind::Choice(components) => components.list.iter().for_each(|c| each(c.ty)),
            _ => {}
        }
    }

    /// Walks from each infinite type to one it needs, until the walk meets itself; each circle is reported once.
    fn report_circles(&mut self, waits: &[u32]) {
        let mut seen = vec![0u32; waits.len()];
        for start in 0..waits.len() {
            let walk = start as u32 + 1;
            let mut path: Vec<usize> = Vec::new();
            let mut at = start;
            while waits[at] > 0 && seen[at] == 0 {
                seen[at] = walk;
                path.push(at);
                let mut next = None;
                self.needs(TypeId(at as u32), |needed| {
                    if next.is_none() && waits[needed.index()] > 0 {
                        next = Some(needed.index());
                    }
                });
                match next {
                    Some(next) => at = next,
                    None => break,
                }
            }
            if waits[at] == 0 || seen[at] != walk {
                continue;
            }
            let Some(from) = path.iter().position(|&p| p == at) else { continue };
            let named = path[from..].iter().copied().filter(|&p| self.model.types[p].name.is_some());
            let Some(first) = named.min_by_key(|&p| self.model.types[p].span) else { continue };
            let ty = &self.model.types[first];
            let name = self.model.type_name(TypeId(first as u32));
            self.out.push(
                Diagnostic::warning("W0266", ty.span, format!("`{name}` has no finite value"))
                    .label("each value needs another one inside")
                    .help("make one of the components on the way OPTIONAL"),
            );
        }
    }
}
