//! Running jobs of queues and qualities of service that are stopped for others.

use std::collections::{BTreeMap, BTreeSet};

use haggle_config::document::Path;

use super::Check;
use crate::file::Provider;
use crate::quantity::Name;

/// The keys of a queue or of a quality of service.
struct Class<'a> {
    name: &'a Name,
    preempts: &'a [Name],
    nodes: Option<&'a [Name]>,
}

/// The queues and the qualities of service of a provider, with the key and the word for each kind.
fn classes(provider: &Provider) -> [(&'static str, &'static str, Vec<Class<'_>>); 2] {
    let queues = provider.queues.iter().map(|it| Class {
        name: &it.name,
        preempts: &it.preempts,
        nodes: it.nodes.as_deref(),
    });
    let qos =
        provider.qos.iter().map(|it| Class { name: &it.name, preempts: &it.preempts, nodes: None });
    [("queue", "queue", queues.collect()), ("qos", "quality of service", qos.collect())]
}

impl Check<'_> {
    pub(super) fn check_preemption(&mut self, path: &Path, provider: &Provider) {
        let kinds = classes(provider);
        for (key, word, all) in &kinds {
            for (index, class) in all.iter().enumerate() {
                let at = path.key(key).index(index).key("preempts");
                self.check_stopped(&at, word, class, all);
            }
            if let Some((index, circle)) = circle(all) {
                let at = path.key(key).index(index).key("preempts");
                let message = format!("jobs would stop each other in turn: {}", circle.join(", "));
                self.report(&at, message, "a circle", "remove one of these names");
            }
        }
        let [queue, qos] = kinds.map(|it| it.2.iter().position(|it| !it.preempts.is_empty()));
        if let (Some(_), Some(index)) = (queue, qos) {
            let message = format!(
                "queues and qualities of service of provider \"{}\" both stop running jobs, which could then stop each other in turn",
                provider.name
            );
            let at = path.key("qos").index(index).key("preempts");
            let help = "keep `preempts` in queues, or in qualities of service";
            self.report(&at, message, "a second kind", help);
        }
    }

    /// The names in a list are those of others, each once.
    fn check_stopped(&mut self, at: &Path, word: &str, class: &Class<'_>, all: &[Class<'_>]) {
        let owner = format!("{word} \"{}\"", class.name);
        let mut known = BTreeSet::new();
        for (index, name) in class.preempts.iter().enumerate() {
            let at = at.index(index);
            if !known.insert(name) {
                self.listed_twice(&at, &owner, &format!("{word} \"{name}\""));
            }
            if name == class.name {
                let message = format!("jobs of {owner} would stop each other in turn");
                self.report(&at, message, "itself", "remove it");
            } else if !all.iter().any(|it| it.name == name) {
                let message = format!("{owner} stops jobs of {word} \"{name}\", and there is none");
                let others = all.iter().map(|it| it.name).filter(|it| *it != class.name);
                let others = Vec::from_iter(others.map(|it| it.as_str()));
                let help = match others[..] {
                    [] => "remove it".to_owned(),
                    _ => format!("write one of {}", others.join(", ")),
                };
                self.report(&at, message, "no such name", help);
            }
        }
    }

    /// Warns of keys that have no effect.
    pub(super) fn preemption_effects(&mut self, path: &Path, provider: &Provider) {
        for (key, word, all) in classes(provider) {
            for (index, class) in all.iter().enumerate() {
                let at = path.key(key).index(index);
                let owner = format!("{word} \"{}\"", class.name);
                let is_stopped = all.iter().any(|it| it.preempts.contains(class.name));
                let why = "no other one stops its jobs";
                let remedy = "remove it, or add its name to `preempts` of another one";
                for key in ["on-preemption", "grace"] {
                    self.uses(&at.key(key), is_stopped, &owner, why, remedy);
                }
                let apart = |name: &&Name| {
                    let other = all.iter().find(|it| it.name == *name).and_then(|it| it.nodes);
                    let pair = class.nodes.zip(other);
                    pair.is_some_and(|(own, other)| !own.iter().any(|it| other.contains(it)))
                };
                let apart =
                    !class.preempts.is_empty() && class.preempts.iter().all(|it| apart(&it));
                let why = "they have no nodes in common";
                self.uses(&at.key("preempts"), !apart, &owner, why, "remove it");
            }
        }
    }
}

/// A circle of names in the lists, with the index of its first one.
fn circle(all: &[Class<'_>]) -> Option<(usize, Vec<String>)> {
    let places = BTreeMap::from_iter(all.iter().enumerate().map(|(place, it)| (it.name, place)));
    let next = |place: usize| {
        let others = all[place].preempts.iter().filter_map(|it| places.get(it).copied());
        // A name in its own list is reported by itself.
        others.filter(move |&it| it != place)
    };
    // Each one is left once all behind it are known to lead to no circle.
    let mut is_left = vec![false; all.len()];
    for first in 0..all.len() {
        let mut way = vec![(first, Vec::from_iter(next(first)))];
        while let Some((place, others)) = way.last_mut() {
            let Some(other) = others.pop() else {
                is_left[*place] = true;
                way.pop();
                continue;
            };
            if let Some(begin) = way.iter().position(|it| it.0 == other) {
                let names = way[begin..].iter().map(|it| all[it.0].name.to_string());
                return Some((other, names.collect()));
            }
            if !is_left[other] {
                way.push((other, Vec::from_iter(next(other))));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lists: &[&[&str]]) -> Option<(usize, Vec<String>)> {
        let name = |text: &str| Name::like(text);
        let names = Vec::from_iter((0..lists.len()).map(|it| name(&it.to_string())));
        let lists =
            Vec::from_iter(lists.iter().map(|it| Vec::from_iter(it.iter().map(|it| name(it)))));
        let class = |(name, preempts)| Class { name, preempts, nodes: None };
        let lists = lists.iter().map(Vec::as_slice);
        circle(&Vec::from_iter(names.iter().zip(lists).map(class)))
    }

    #[test]
    fn circles_are_found_and_other_ways_that_meet_are_not() {
        assert_eq!(found(&[&["1", "2"], &["3"], &["3"], &[]]), None);
        assert_eq!(found(&[&["0"]]), None, "it is reported by itself");
        assert_eq!(found(&[&["1"], &["2"], &["1"]]), Some((1, vec!["1".into(), "2".into()])));
    }
}
