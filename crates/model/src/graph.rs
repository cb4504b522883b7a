//! Circles in graphs of types and values.

/// Gives each node of a graph the number of its strongly connected component: nodes that lead to one another have the same
/// number. `edges` adds the nodes that one leads to. Time is linear in nodes and edges, and nothing recurses.
pub fn strongly_connected(count: usize, mut edges: impl FnMut(usize, &mut Vec<usize>)) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut component = vec![NONE; count];
    let (mut order, mut low) = (vec![NONE; count], vec![0; count]);
    let (mut next, mut components) = (0, 0);
    // Tarjan's algorithm with a stack of its own: a node, and where its edges still to be followed begin.
    let mut open: Vec<usize> = Vec::new();
    let mut calls: Vec<(usize, usize)> = Vec::new();
    let mut pending: Vec<usize> = Vec::new();
    for start in 0..count {
        if order[start] != NONE {
            continue;
        }
        pending.push(start);
        calls.push((NONE as usize, 0));
        while let Some(&(node, first)) = calls.last() {
            if pending.len() > first {
                let to = pending.pop().unwrap_or(start);
                if order[to] == NONE {
                    (order[to], low[to]) = (next, next);
                    next += 1;
                    open.push(to);
                    calls.push((to, pending.len()));
                    edges(to, &mut pending);
                } else if component[to] == NONE && node < count {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            calls.pop();
            if node >= count {
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
            if let Some(&(parent, _)) = calls.last()
                && parent < count
            {
                low[parent] = low[parent].min(low[node]);
            }
        }
    }
    component
}

/// The nodes of a graph that lead back to themselves.
pub(crate) fn circular(count: usize, mut edges: impl FnMut(usize, &mut Vec<usize>)) -> Vec<bool> {
    let component = strongly_connected(count, &mut edges);
    let mut members = vec![0u32; count];
    for &id in &component {
        members[id as usize] += 1;
    }
    let mut out = Vec::new();
    let mut itself = |node: usize| {
        out.clear();
        edges(node, &mut out);
        out.contains(&node)
    };
    (0..count).map(|node| members[component[node] as usize] > 1 || itself(node)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[(usize, usize)], count: usize, expected: &[usize]) {
        let of = |from: usize, out: &mut Vec<usize>| {
            out.extend(edges.iter().filter(|(a, _)| *a == from).map(|(_, b)| *b));
        };
        let found: Vec<usize> =
            circular(count, of).iter().enumerate().filter(|(_, it)| **it).map(|(n, _)| n).collect();
        assert_eq!(found, expected, "{edges:?}");
    }

    #[test]
    fn circles_are_found() {
        check(&[], 3, &[]);
        check(&[(0, 0), (0, 1)], 2, &[0]);
        check(&[(0, 1), (1, 2), (2, 1), (2, 3)], 4, &[1, 2]);
        check(&[(0, 1), (1, 2), (2, 0), (3, 0), (3, 4), (4, 3)], 5, &[0, 1, 2, 3, 4]);
        check(&[(0, 1), (0, 2), (1, 3), (2, 3)], 4, &[]);
        // Two circles that share a node are one.
        let groups = strongly_connected(3, |from, out| match from {
            0 => out.extend([1, 2]),
            _ => out.push(0),
        });
        assert!(groups.iter().all(|group| *group == groups[0]));
    }

    #[test]
    fn long_chains_need_no_stack() {
        let count = 300_000;
        let groups = strongly_connected(count, |from, out| out.push((from + 1) % count));
        assert!(groups.iter().all(|group| *group == 0));
    }
}
