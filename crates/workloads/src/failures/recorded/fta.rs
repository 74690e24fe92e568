//! The event table of the Failure Trace Archive.

use super::error::TraceProblem;
use super::reader::{Event, Identity, field, printable};
use crate::swf::number;
use haggle_model::Time;

const FIELDS: [&str; 9] = [
    "event_id",
    "component_id",
    "node_id",
    "platform_id",
    "node_name",
    "event_type",
    "event_start_time",
    "event_stop_time",
    "event_end_reason",
];

/// Reads one line; `None` for blank lines, comments and the line of column names.
pub(super) fn event(line: &[u8]) -> Result<Option<Event<'_>>, TraceProblem> {
    let text = line.trim_ascii_start();
    if text.first().is_none_or(|&first| first == b'#') || is_names(text) {
        return Ok(None);
    }
    let mut fields: [&[u8]; FIELDS.len()] = [b""; FIELDS.len()];
    let mut found = 0;
    for text in line.split(|&byte| byte == b'\t') {
        // Surplus fields are only counted, for the message.
        if let Some(place) = fields.get_mut(found) {
            *place = text.trim_ascii();
        }
        found += 1;
    }
    if found != FIELDS.len() {
        return Err(TraceProblem::FieldCount { expected: FIELDS.len(), found });
    }
    let id = |index| {
        field(index, FIELDS[index], fields[index], "a whole number", |text| {
            std::str::from_utf8(text).ok()?.parse().ok()
        })
    };
    let time = |index| {
        field(index, FIELDS[index], fields[index], "a time in seconds", |text| {
            number::span(text).ok().map(|since| Time::ZERO + since)
        })
    };
    let is_down = field(5, FIELDS[5], fields[5], "0 (down) or 1 (up)", |text| match text {
        b"0" => Some(true),
        b"1" => Some(false),
        _ => None,
    })?;
    let (start, stop) = (time(6)?, time(7)?);
    if stop < start {
        return Err(TraceProblem::Field {
            number: 8,
            name: FIELDS[7],
            expected: "a time that is not before event_start_time",
            found: printable(fields[7]),
        });
    }
    Ok(Some(Event { node: (id(3)?, id(2)?), label: fields[4], is_down, start, stop }))
}

/// True for the line of column names. Tables that went through a spreadsheet have lost its `#`.
pub(super) fn is_names(text: &[u8]) -> bool {
    text.get(..FIELDS[0].len()).is_some_and(|it| it.eq_ignore_ascii_case(FIELDS[0].as_bytes()))
}

/// Site and cluster of a node, as far as its name contains them.
pub(super) fn identity(label: &[u8]) -> Identity {
    let name = String::from_utf8_lossy(label).into_owned();
    if let [.., site, cluster, _] = name.split('/').collect::<Vec<_>>()[..] {
        let (site, cluster) = (site.to_owned(), format!("{site}/{cluster}"));
        return Identity { name, site, cluster };
    }
    // Los Alamos: system and node as one decimal number.
    if let Some((system, node)) = name.split_once('.')
        && [system, node].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        let system = system.to_owned();
        return Identity { name, site: system.clone(), cluster: system };
    }
    Identity { name, site: String::new(), cluster: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_site_and_cluster() {
        let parts = |label: &str| {
            let Identity { name, site, cluster } = identity(label.as_bytes());
            assert_eq!(name, label);
            (site, cluster)
        };
        let pair = |site: &str, cluster: &str| (site.to_owned(), cluster.to_owned());
        assert_eq!(parts("G1/site1/c2/node3"), pair("site1", "site1/c2"));
        assert_eq!(parts("10.003"), pair("10", "10"));
        assert_eq!(parts("host.example.org"), pair("", ""));
        assert_eq!(parts(""), pair("", ""));
    }
}
