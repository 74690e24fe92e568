//! Joins two drawn worlds, so that features of different actors meet in one run.
//!
//! The worlds share the clock, the network, the workload files and the results. All names of the second world get
//! a prefix. Keys that a scenario has once (header, results, sweep, figures) are those of the first world.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toml::Value;

use super::dice::Dice;
use super::keys::{chosen, member, named};
use super::strings::{Role, role};
use haggle_scenario::schema::SCHEMA;

/// Prefix of the names of the second world.
const PREFIX: &str = "x";

/// Lists to which the second world adds its members.
const LISTS: [&str; 6] =
    ["workload", "provider", "metascheduler", "user", "maintenance", "failures"];

/// Tables of the second world that the first one takes if it has none.
const TABLES: [&str; 3] = ["grid", "plans", "network"];

/// Adds the actors of `second` to `first`. A name in `second` may then lead nowhere, if its table was left out.
pub(super) fn join(first: &mut toml::Table, mut second: toml::Table) {
    // Before anything is joined, because both worlds use the same names.
    rename(&mut second);
    // After the renaming, so that the listed names are the final ones.
    [&mut *first, &mut second].into_iter().for_each(keep_to_itself);
    for key in LISTS {
        let Some(Value::Array(more)) = second.remove(key) else { continue };
        match first.get_mut(key) {
            Some(Value::Array(items)) => items.extend(more),
            _ => drop(first.insert(key.to_owned(), Value::Array(more))),
        }
    }
    for key in TABLES {
        if let Some(table) = second.remove(key) {
            // The first world has one already, so that of the second is left out.
            first.entry(key).or_insert(table);
        }
    }
}

/// Lets users of the second world who submit to a provider submit to one of the first world instead.
pub(super) fn meet(joined: &mut toml::Table, first: &toml::Table, dice: &mut Dice) {
    let names = |world: &toml::Table| -> Vec<String> {
        let providers = world.get("provider").and_then(Value::as_array).into_iter().flatten();
        let names = providers.filter_map(|it| it.get("name")?.as_str());
        names.map(str::to_owned).collect()
    };
    let (own, all) = (names(first), names(joined));
    let count = first.get("user").and_then(Value::as_array).map_or(0, Vec::len);
    let users = joined.get_mut("user").and_then(Value::as_array_mut).into_iter().flatten();
    for user in users.skip(count).filter(|_| !own.is_empty()) {
        let Some(target) = user.get_mut("submits-to") else { continue };
        // A copy of a provider has its name and a number.
        let is_provider = |it: &str| all.iter().any(|name| it.starts_with(name.as_str()));
        if target.as_str().is_some_and(is_provider) {
            *target = Value::String(dice.pick(&own).clone());
        }
    }
}

/// Names the providers of metaschedulers that use all of their world. Without names, they would use the other
/// world as well.
fn keep_to_itself(world: &mut toml::Table) {
    let name = |table: &Value| table.get("name").cloned();
    let providers = world.get("provider").and_then(Value::as_array);
    let providers: Vec<Value> = providers.into_iter().flatten().filter_map(name).collect();
    let metaschedulers = world.get_mut("metascheduler").and_then(Value::as_array_mut);
    let tables = metaschedulers.into_iter().flatten().filter_map(Value::as_table_mut);
    for table in tables.filter(|_| !providers.is_empty()) {
        let all = table.get("providers").and_then(Value::as_array).is_none_or(Vec::is_empty);
        if all {
            table.insert("providers".to_owned(), Value::Array(providers.clone()));
        }
    }
}

/// Puts the prefix before all names that the document gives, and before all uses of them.
fn rename(document: &mut toml::Table) {
    let mut own = BTreeSet::new();
    each_string(document, "Scenario", SCHEMA.whole(), &mut |role, text| {
        if matches!(role, Role::Own(_)) {
            own.insert(text.clone());
        }
    });
    // A copy of a provider, or a resource of a site, has the name and its number.
    let is_own = |name: &str| {
        own.contains(name) || name.rsplit_once('-').is_some_and(|(name, _)| own.contains(name))
    };
    each_string(document, "Scenario", SCHEMA.whole(), &mut |role, text| {
        if matches!(role, Role::Own(_) | Role::Names(_)) && is_own(text) {
            text.insert_str(0, PREFIX);
        }
    });
}

/// Visits the strings of a table that have a role.
fn each_string(
    table: &mut toml::Table,
    name: &str,
    schema: &Json,
    visit: &mut impl FnMut(Role, &mut String),
) {
    let schema = chosen(table, schema).1;
    for (key, value) in table {
        each_in(value, (name, key), &schema["properties"][key], visit);
    }
}

fn each_in(
    value: &mut Value,
    (table, key): (&str, &str),
    schema: &Json,
    visit: &mut impl FnMut(Role, &mut String),
) {
    match value {
        Value::String(text) => {
            if let Some(role) = role(table, key) {
                visit(role, text);
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| each_in(item, (table, key), schema, visit));
        }
        Value::Table(inner) => {
            let (name, schema) = named(member(schema));
            each_string(inner, name.unwrap_or(table), schema, visit);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> toml::Table {
        text.parse().expect("it is TOML")
    }

    #[test]
    fn names_of_the_second_world_differ_from_those_of_the_first() {
        let world = "[[workload]]\nname = \"w1\"\n\n[[provider]]\nname = \"p1\"\ncount = 2\n\n\
                     [[user]]\nname = \"u1\"\nworkload = \"w1\"\nsubmits-to = \"p1-2\"\n";
        let mut joined = table(world);
        join(&mut joined, table(world));
        let user = &joined["user"][1];
        assert_eq!(user["submits-to"].as_str(), Some("xp1-2"));
        assert_eq!(user["workload"].as_str(), Some("xw1"));
        assert_eq!(joined["provider"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn metaschedulers_keep_to_the_providers_of_their_world() {
        let world = "[[provider]]\nname = \"p1\"\n\n[[metascheduler]]\nname = \"m1\"\n";
        let mut joined = table(world);
        join(&mut joined, table(world));
        let providers = |place: usize| joined["metascheduler"][place]["providers"][0].as_str();
        assert_eq!((providers(0), providers(1)), (Some("p1"), Some("xp1")));
    }

    #[test]
    fn users_of_the_second_world_meet_at_providers_of_the_first() {
        let world = "[[provider]]\nname = \"p1\"\n\n[[metascheduler]]\nname = \"m1\"\n\n\
                     [[user]]\nname = \"u1\"\nsubmits-to = \"p1\"\n\n\
                     [[user]]\nname = \"u2\"\nsubmits-to = \"m1\"\n";
        let (first, mut joined) = (table(world), table(world));
        join(&mut joined, table(world));
        meet(&mut joined, &first, &mut Dice::new(1, 1));
        let target = |place: usize| joined["user"][place]["submits-to"].as_str();
        assert_eq!([0, 1, 2, 3].map(target), ["p1", "m1", "p1", "xm1"].map(Some));
    }

    #[test]
    fn what_a_scenario_has_once_is_that_of_the_first_world() {
        let mut joined = table("[network]\nlatency = \"1s\"\n");
        join(&mut joined, table("[network]\nlatency = \"2s\"\n\n[grid]\nname = \"g1\"\n"));
        assert_eq!(joined["network"]["latency"].as_str(), Some("1s"));
        assert_eq!(joined["grid"]["name"].as_str(), Some("xg1"));
    }
}
