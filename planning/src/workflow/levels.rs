//! Which applications of a workflow run side by side.

use thiserror::Error;

/// What the level of an application is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LevelRule {
    /// The number of applications on the longest way to it: all before it are in levels before its.
    #[default]
    LongestPath,
    /// The number on the shortest way to it, as published. For graphs only in which all ways to an
    /// application are of one length; in others it would have to run before what it waits for.
    BreadthFirst,
}

/// Why a graph has no levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WorkflowError {
    /// An edge leads to or from nowhere.
    #[error("there is no application {application}")]
    NoApplication {
        /// The number in the edge.
        application: usize,
    },
    /// An application would have to wait for itself, or for one that does.
    #[error("application {application} can never begin, for it comes after a cycle")]
    Cycle {
        /// The first one.
        application: usize,
    },
    /// The shortest way to an application is not the only one.
    #[error("by breadth first, application {to} would not come after {from}; use the longest path")]
    TooEarly {
        /// What has to come before.
        from: usize,
        /// What has a level that is not below.
        to: usize,
    },
}

/// The applications of each level, by their numbers from 0, ascending. An edge leads from one to
/// another that comes later. Applications without predecessors are in the first level.
pub fn levels(
    applications: usize,
    edges: &[(usize, usize)],
    rule: LevelRule,
) -> Result<Vec<Vec<usize>>, WorkflowError> {
    let unknown = edges.iter().flat_map(|&(from, to)| [from, to]).find(|&end| end >= applications);
    if let Some(application) = unknown {
        return Err(WorkflowError::NoApplication { application });
    }
    let mut after = vec![Vec::new(); applications];
    let mut before = vec![0_usize; applications];
    for &(from, to) in edges {
        after[from].push(to);
        before[to] += 1;
    }
    let mut level: Vec<Option<usize>> =
        before.iter().map(|&before| (before == 0).then_some(0)).collect();
    let mut ready: Vec<usize> = (0..applications).filter(|&one| before[one] == 0).collect();
    let mut next = 0;
    // Each comes after all that are before it, so that its level is known by then.
    while let Some(&one) = ready.get(next) {
        next += 1;
        let below = level[one].map(|level| level + 1);
        for &later in &after[one] {
            level[later] = match rule {
                LevelRule::LongestPath => level[later].max(below),
                LevelRule::BreadthFirst => [level[later], below].into_iter().flatten().min(),
            };
            before[later] -= 1;
            if before[later] == 0 {
                ready.push(later);
            }
        }
    }
    if let Some(application) = (0..applications).find(|&one| before[one] > 0) {
        return Err(WorkflowError::Cycle { application });
    }
    if let Some(&(from, to)) = edges.iter().find(|&&(from, to)| level[to] <= level[from]) {
        return Err(WorkflowError::TooEarly { from, to });
    }
    let deepest = level.iter().flatten().max().map_or(0, |deepest| deepest + 1);
    let mut levels = vec![Vec::new(); deepest];
    for (application, level) in level.into_iter().enumerate() {
        levels[level.unwrap_or(0)].push(application);
    }
    Ok(levels)
}
