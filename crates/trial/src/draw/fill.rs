//! Fills in the names and paths in the strings of a document, after all tables are drawn.

use serde_json::Value as Json;
use toml::Value;

use super::document::{Draw, OPEN};
use super::keys::{chosen, member, named};
use super::records;
use super::size::Theme;
use super::strings::{Kind, Role, role};
use haggle_scenario::changing::changes;
use haggle_scenario::schema::SCHEMA;

/// Fills in every open string, and replaces names that no longer exist.
pub(super) fn fill(document: &mut toml::Table, draw: &mut Draw<'_>) {
    let names = Names::of(document);
    names.fill_table(document, "Scenario", SCHEMA.whole(), draw);
    // After the names, because paths of axes contain them.
    let places = Places::of(document);
    places.fill(document, &names, draw);
}

/// All names of a document.
struct Names(Vec<(Kind, String)>);

impl Names {
    fn of(document: &toml::Table) -> Names {
        let mut names = Vec::new();
        for (key, kind) in [
            ("workload", Kind::Workload),
            ("metascheduler", Kind::Metascheduler),
            ("user", Kind::User),
        ] {
            names.extend(tables(document, key).map(|table| (kind, name_of(table))));
        }
        for table in tables(document, "provider") {
            let name = name_of(table);
            // Copies have numbers; two of them are enough to draw from.
            if table.get("count").and_then(Value::as_integer).is_some_and(|count| count > 1) {
                names.extend((1..=2).map(|copy| (Kind::Provider, format!("{name}-{copy}"))));
            }
            names.push((Kind::Provider, name));
            for (key, kind) in [
                ("node", Kind::NodeGroup),
                ("account", Kind::Account),
                ("queue", Kind::Queue),
                ("qos", Kind::Qos),
            ] {
                let named = tables(table, key).filter(|it| it.contains_key("name"));
                names.extend(named.map(|it| (kind, name_of(it))));
            }
        }
        let network = document.get("network").and_then(Value::as_table);
        let stores = network.and_then(|it| it.get("stores")).and_then(Value::as_array);
        let stores = stores.into_iter().flatten().filter_map(Value::as_str);
        names.extend(stores.map(|store| (Kind::Store, store.to_owned())));
        if let Some(grid) = document.get("grid").and_then(Value::as_table) {
            let name = grid.get("name").and_then(Value::as_str).unwrap_or("grid");
            names.push((Kind::Grid, name.to_owned()));
            for site in tables(grid, "site") {
                names.push((Kind::Resource, format!("{}-1", name_of(site))));
                names.push((Kind::Site, name_of(site)));
            }
        }
        if let Some(plans) = document.get("plans").and_then(Value::as_table) {
            let name = plans.get("name").and_then(Value::as_str).unwrap_or("plans");
            names.push((Kind::Plans, name.to_owned()));
            names.extend(tables(plans, "cluster").map(|it| (Kind::Cluster, name_of(it))));
        }
        if let Some(sweep) = document.get("sweep").and_then(Value::as_table) {
            names.extend(tables(sweep, "axis").map(|axis| (Kind::Axis, title(axis))));
        }
        let groups = ["provider", "user", "class", "workload"];
        names.extend(groups.map(|group| (Kind::Group, group.to_owned())));
        Names(names)
    }

    /// True if something of these kinds has this name.
    fn has(&self, kinds: &[Kind], name: &str) -> bool {
        self.0.iter().any(|(kind, it)| kinds.contains(kind) && it == name)
    }

    /// A name of these kinds: draws first a kind, then a name of it.
    fn pick(&self, kinds: &[Kind], draw: &mut Draw<'_>) -> String {
        let of = |kind: Kind| self.0.iter().filter(move |it| it.0 == kind).map(|it| &it.1);
        let known: Vec<Kind> =
            kinds.iter().copied().filter(|&kind| of(kind).next().is_some()).collect();
        if known.is_empty() {
            // Noted, so that the next repair may add a table of such a kind.
            draw.missing.extend(kinds);
            return "nobody".to_owned();
        }
        let kind = *draw.dice.pick(&known);
        let names: Vec<&String> = of(kind).collect();
        (*draw.dice.pick(&names)).clone()
    }

    fn fill_table(&self, table: &mut toml::Table, name: &str, schema: &Json, draw: &mut Draw<'_>) {
        let schema = chosen(table, schema).1;
        let format = table.get("format").and_then(Value::as_str).unwrap_or("fta").to_owned();
        for (key, value) in table {
            self.fill_value(value, (name, key, &format), &schema["properties"][key], draw);
        }
    }

    /// Fills in the value of a key of a table, given the names of both and the `format` beside it.
    fn fill_value(
        &self,
        value: &mut Value,
        at: (&str, &str, &str),
        schema: &Json,
        draw: &mut Draw<'_>,
    ) {
        match value {
            Value::String(text) => match role(at.0, at.1) {
                Some(Role::Names(kinds))
                    if draw.theme.submits_to_metaschedulers()
                        && at.0 == "User"
                        && kinds.contains(&Kind::Metascheduler)
                        && !self.has(&[Kind::Metascheduler], text) =>
                {
                    *text = self.pick(&[Kind::Metascheduler], draw);
                }
                // The table with this name may have been drawn again, with another name.
                Some(Role::Names(kinds)) if self.has(kinds, text) => {}
                // Most bags are submitted to metaschedulers, because only these compose offers.
                Some(Role::Names(kinds)) if draw.theme == Theme::Bags && at.0 == "User" => {
                    let composed = kinds.contains(&Kind::Metascheduler) && draw.dice.chance(85);
                    let kinds = if composed { &[Kind::Metascheduler] } else { kinds };
                    *text = self.pick(kinds, draw);
                }
                Some(Role::Names(kinds)) => *text = self.pick(kinds, draw),
                Some(Role::Record) if text == OPEN => *text = records::record(at.2),
                _ => {}
            },
            Value::Array(items) => {
                for item in items {
                    self.fill_value(item, at, schema, draw);
                }
            }
            Value::Table(table) => {
                let (name, inner) = named(member(schema));
                self.fill_table(table, name.unwrap_or(at.0), inner, draw);
            }
            _ => {}
        }
    }
}

/// The places of a document that an axis may vary, and a `set` may set.
struct Places(Vec<Place>);

/// A place that an axis may vary.
#[derive(Clone)]
struct Place {
    /// Path to it.
    path: String,
    /// The path without names and numbers.
    way: String,
    /// The type of the table and the key.
    table: String,
    key: String,
    schema: &'static Json,
}

impl Places {
    fn of(document: &toml::Table) -> Places {
        let mut places = Places(Vec::new());
        places.table(document, ("", ""), "Scenario", SCHEMA.whole());
        places
    }

    /// `at` is the beginning of paths and of ways of this table.
    fn table(&mut self, table: &toml::Table, at: (&str, &str), name: &str, schema: &'static Json) {
        let schema = chosen(table, schema).1;
        for (key, value) in table {
            // Keys that a sweep must not vary: they name things or describe the sweep itself.
            if matches!(
                key.as_str(),
                "sweep" | "set" | "name" | "extends" | "figure" | "change" | "branch"
            ) {
                continue;
            }
            let property = &schema["properties"][key];
            let (path, way) = (format!("{}{key}", at.0), format!("{}{key}", at.1));
            let (type_name, inner) = named(member(property));
            let type_name = type_name.unwrap_or(name);
            match value {
                Value::Table(table) => {
                    let at = (format!("{path}."), format!("{way}."));
                    self.table(table, (&at.0, &at.1), type_name, inner);
                }
                Value::Array(items) if items.iter().all(Value::is_table) => {
                    for (index, table) in items.iter().filter_map(Value::as_table).enumerate() {
                        let own = table.get("name").and_then(Value::as_str);
                        let own = own.map_or_else(|| (index + 1).to_string(), str::to_owned);
                        let at = (format!("{path}.{own}."), format!("{way}."));
                        self.table(table, (&at.0, &at.1), type_name, inner);
                    }
                }
                _ => self.0.push(Place {
                    path,
                    way,
                    table: name.to_owned(),
                    key: key.clone(),
                    schema: property,
                }),
            }
        }
    }

    fn fill(&self, document: &mut toml::Table, names: &Names, draw: &mut Draw<'_>) {
        if let Some(set) = document.get_mut("set").and_then(Value::as_table_mut) {
            self.fill_set(set, names, draw);
        }
        for list in ["change", "branch"] {
            let changes = document.get_mut(list).and_then(Value::as_array_mut);
            let settings = changes.into_iter().flatten().filter_map(|it| it.get_mut("set"));
            for set in settings.filter_map(Value::as_table_mut) {
                // Most keys cannot change while a run goes on, and would only be refused.
                self.changing(draw).fill_set(set, names, draw);
            }
        }
        let sweep = document.get_mut("sweep").and_then(|sweep| sweep.get_mut("axis"));
        for axis in sweep.and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(axis) = axis.as_table_mut() else { continue };
            if axis.get("path").and_then(Value::as_str) == Some(OPEN) {
                self.fill_axis(axis, names, draw);
            }
            let variants = axis.get_mut("variant").and_then(Value::as_array_mut);
            for variant in variants.into_iter().flatten() {
                if let Some(set) = variant.get_mut("set").and_then(Value::as_table_mut) {
                    self.fill_set(set, names, draw);
                }
            }
        }
        // Copied after the axes are filled in, because references repeat their values.
        let sweep = document.get("sweep").and_then(Value::as_table);
        let axes = Vec::from_iter(sweep.iter().flat_map(|sweep| tables(sweep, "axis")).cloned());
        let sweep = document.get_mut("sweep").and_then(|sweep| sweep.get_mut("reference"));
        fill_reference(sweep, &axes, draw);
        let figures = document.get_mut("figure").and_then(Value::as_array_mut);
        for figure in figures.into_iter().flatten() {
            fill_reference(figure.get_mut("against"), &axes, draw);
        }
    }

    /// The places whose values may change while a run goes on; now and then all places.
    fn changing(&self, draw: &mut Draw<'_>) -> Places {
        let all = draw.dice.chance(10);
        Places(self.0.iter().filter(|place| all || changes(&place.way).is_ok()).cloned().collect())
    }

    fn fill_axis(&self, axis: &mut toml::Table, names: &Names, draw: &mut Draw<'_>) {
        // An axis has a path or variants.
        if axis.contains_key("variant") && draw.dice.chance(50) {
            axis.remove("path");
            axis.remove("values");
            return;
        }
        if self.0.is_empty() {
            return;
        }
        let place = draw.dice.pick(&self.0);
        let count = draw.dice.between(1, 3);
        let values = (0..count).map(|_| place.value(names, draw)).collect();
        axis.insert("path".to_owned(), Value::String(place.path.clone()));
        axis.insert("values".to_owned(), Value::Array(values));
        axis.remove("variant");
    }

    fn fill_set(&self, set: &mut toml::Table, names: &Names, draw: &mut Draw<'_>) {
        if set.is_empty() && !self.0.is_empty() {
            for _ in 0..draw.dice.between(1, 2) {
                let place = draw.dice.pick(&self.0);
                set.insert(place.path.clone(), place.value(names, draw));
            }
        }
    }
}

/// Sets a reference: one value of one axis, with which other runs are compared.
fn fill_reference(reference: Option<&mut Value>, axes: &[toml::Table], draw: &mut Draw<'_>) {
    let Some(reference) = reference.and_then(Value::as_table_mut) else { return };
    if axes.is_empty() {
        return;
    }
    let axis = draw.dice.pick(axes);
    let values = axis.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
    let variants = tables(axis, "variant").map(|variant| Value::String(name_of(variant)));
    let all: Vec<Value> = values.into_iter().chain(variants).collect();
    reference.clear();
    if !all.is_empty() {
        reference.insert(title(axis), draw.dice.pick(&all).clone());
    }
}

impl Place {
    fn value(&self, names: &Names, draw: &mut Draw<'_>) -> Value {
        let mut value = draw.value(&self.table, &self.key, self.schema);
        names.fill_value(&mut value, (&self.table, &self.key, "fta"), self.schema, draw);
        value
    }
}

fn tables<'t>(table: &'t toml::Table, key: &str) -> impl Iterator<Item = &'t toml::Table> {
    let list = table.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_table)
}

fn name_of(table: &toml::Table) -> String {
    table.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Title of an axis: its name, or the last key of its path.
fn title(axis: &toml::Table) -> String {
    let path = axis.get("path").and_then(Value::as_str).unwrap_or_default();
    match axis.contains_key("name") {
        true => name_of(axis),
        false => path.rsplit('.').next().unwrap_or_default().to_owned(),
    }
}
