//! Facts of a dump that have no place in a scenario, or another form there.

use std::collections::BTreeMap;

/// Most names that a remark lists.
const NAMES_MAX: usize = 5;

/// Facts, each with the names of the things that it is about, in the order in which they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    order: Vec<String>,
    names: BTreeMap<String, Vec<String>>,
}

impl Remarks {
    /// Adds a fact about a thing of this name; an empty name stands for the whole site.
    pub(crate) fn add(&mut self, fact: impl Into<String>, name: &str) {
        let fact = fact.into();
        if !self.names.contains_key(&fact) {
            self.order.push(fact.clone());
        }
        let names = self.names.entry(fact).or_default();
        if !name.is_empty() && !names.iter().any(|it| it == name) {
            names.push(name.to_owned());
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Each fact with its names as one line of text.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.order.iter().map(|fact| {
            let names = &self.names[fact];
            let shown = names[..names.len().min(NAMES_MAX)].join(", ");
            match names.len() {
                0 => fact.clone(),
                count if count > NAMES_MAX => {
                    format!("{fact}: {shown} and {} more", count - NAMES_MAX)
                }
                _ => format!("{fact}: {shown}"),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_has_the_first_names() {
        let mut remarks = Remarks::default();
        (0..8).for_each(|it| remarks.add("weights are not read", &format!("n{it}")));
        remarks.add("weights are not read", "n1");
        remarks.add("no accounts", "");
        let lines = Vec::from_iter(remarks.lines());
        assert_eq!(lines, ["weights are not read: n0, n1, n2, n3, n4 and 3 more", "no accounts"]);
    }
}
