//! Cells as a graph: an edge from the x to the series of each cell that is not 0.

use std::collections::BTreeMap;

use haggle_plots::{Figure as Drawing, GraphTask, TaskGraph};

use super::Shown;

/// All tasks in the order of the axes, which must be an order in which they can run. Tasks with the
/// same parents have the same colour.
pub(super) fn drawing(shown: &Shown<'_>) -> Drawing {
    let mut names: Vec<&str> = Vec::new();
    for named in shown.x.iter().chain(&shown.series) {
        if !names.contains(&named.name.as_str()) {
            names.push(&named.name);
        }
    }
    let place = |name: &str| names.iter().position(|it| *it == name).unwrap_or_default();
    let edges = shown.cells.iter().filter(|cell| cell.value.mean != 0.0);
    let edges = edges.map(|cell| (&shown.x[cell.x].name, &shown.series[cell.series].name));
    let edges: Vec<(usize, usize)> =
        edges.map(|(parent, child)| (place(parent), place(child))).collect();
    let mut groups: Vec<String> = Vec::new();
    let mut numbers: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let mut tasks: Vec<GraphTask> = Vec::new();
    for (task, name) in names.iter().enumerate() {
        let to_it = edges.iter().filter(|&&(_, child)| child == task);
        let mut parents: Vec<usize> = to_it.map(|&(parent, _)| parent).collect();
        // Equal sets of parents must have equal keys.
        parents.sort_unstable();
        let needed: Vec<&str> = parents.iter().map(|&parent| names[parent]).collect();
        let above = parents.iter().filter_map(|&parent| tasks.get(parent));
        let level = above.map(|parent| parent.level + 1).max().unwrap_or(0);
        let group = *numbers.entry(parents).or_insert_with(|| {
            groups.push(match needed.is_empty() {
                true => "needs none".to_owned(),
                false => format!("needs {}", needed.join(", ")),
            });
            groups.len() - 1
        });
        tasks.push(GraphTask { label: (*name).to_owned(), group, level });
    }
    Drawing::TaskGraph(TaskGraph {
        title: shown.title.clone(),
        groups,
        tasks,
        edges,
        critical: Vec::new(),
    })
}
