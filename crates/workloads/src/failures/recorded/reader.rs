//! Turns lines into outages of nodes.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use super::error::{TraceError, TraceProblem};
use super::{RecordFormat, RecordedNode, Recording, csv, fta, lanl, other};
use crate::failures::outage::{Outage, OutageList};
use crate::lines::{self, Found, LINE_BYTES_MAX};
use crate::swf::{Malformed, SkippedLines};
use haggle_model::Time;

/// Content of one line.
pub(super) struct Event<'a> {
    /// Numbers that identify the node: platform or system, and number.
    pub(super) node: (i64, i64),
    /// The name of the node; empty if it follows from `node`.
    pub(super) label: &'a [u8],
    pub(super) is_down: bool,
    pub(super) start: Time,
    pub(super) stop: Time,
}

/// Name, site and cluster of a node.
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) site: String,
    pub(super) cluster: String,
}

pub(super) fn open(
    path: &Path,
    format: Option<RecordFormat>,
    malformed: Malformed,
) -> Result<Recording, TraceError> {
    let file: Arc<str> = Arc::from(lines::name(path));
    match lines::open(path) {
        Ok(input) => read(input, file, format, malformed),
        Err(unreadable) => Err(TraceError { file, line: 0, problem: unreadable.into() }),
    }
}

/// Reads a whole record from memory, plain or packed. It is the entry for fuzzing and for checks of a
/// text, and panics on no input.
pub fn parse_bytes(
    bytes: &[u8],
    format: impl Into<Option<RecordFormat>>,
    malformed: Malformed,
) -> Result<Recording, TraceError> {
    let file: Arc<str> = Arc::from("<memory>");
    match lines::decompressed(bytes) {
        Ok(input) => read(input, file, format.into(), malformed),
        Err(unreadable) => Err(TraceError { file, line: 0, problem: unreadable.into() }),
    }
}

/// Reads lines of one of the formats.
enum Table {
    Fta,
    Lanl(lanl::Table),
    Csv(csv::Table),
}

impl Table {
    fn new(format: RecordFormat) -> Table {
        match format {
            RecordFormat::Fta => Table::Fta,
            RecordFormat::Lanl => Table::Lanl(lanl::Table::new()),
            RecordFormat::Csv => Table::Csv(csv::Table::new()),
        }
    }

    fn event<'t>(&'t mut self, line: &'t [u8]) -> Result<Option<Event<'t>>, TraceProblem> {
        match self {
            Table::Fta => fta::event(line),
            Table::Lanl(table) => table.event(line),
            Table::Csv(table) => table.event(line),
        }
    }
}

fn read(
    mut input: impl BufRead,
    file: Arc<str>,
    format: Option<RecordFormat>,
    malformed: Malformed,
) -> Result<Recording, TraceError> {
    let mut reading = Reading::default();
    let mut skipped = SkippedLines::default();
    let mut buffer = Vec::new();
    let mut line = 0;
    loop {
        let found = lines::fill_line(&mut input, &mut buffer);
        if !matches!(found, Ok(Found::End)) {
            line += 1;
        }
        // A byte order mark would belong to the name of the first column.
        if line == 1 && buffer.starts_with(b"\xef\xbb\xbf") {
            buffer.drain(..3);
        }
        let done = match found {
            Ok(Found::End) => break,
            Ok(Found::TooLong) => Err(TraceProblem::LineTooLong(LINE_BYTES_MAX)),
            Err(error) => Err(TraceProblem::Read(error)),
            Ok(Found::Line) => reading.line(&buffer, format),
        };
        if let Err(problem) = done {
            let error = TraceError { file: Arc::clone(&file), line, problem };
            // A problem of the whole file, such as a missing column, cannot be skipped.
            if malformed == Malformed::Refuse || !error.problem.is_one_line() {
                return Err(error);
            }
            skipped.add(&error);
        }
    }
    match reading.0 {
        Some((_, nodes)) if !nodes.nodes.is_empty() => {
            let format = nodes.format;
            Ok(Recording { file, format, nodes: nodes.finish(), skipped })
        }
        _ => Err(TraceError { file, line: 0, problem: TraceProblem::Empty }),
    }
}

/// The table and the nodes so far; `None` before the first line that is not blank.
#[derive(Default)]
struct Reading(Option<(Table, Nodes)>);

impl Reading {
    fn line(&mut self, line: &[u8], format: Option<RecordFormat>) -> Result<(), TraceProblem> {
        if self.0.is_none() {
            if line.trim_ascii().is_empty() {
                return Ok(());
            }
            if let Some((kind, help)) = other::format(line) {
                return Err(TraceProblem::OtherFormat { kind, help });
            }
            // Comments begin with # in two of the formats, so the format is determined by the next line.
            if format.is_none() && line.trim_ascii_start().starts_with(b"#") {
                return Ok(());
            }
            let format = format.unwrap_or_else(|| other::record_format(line));
            self.0 = Some((Table::new(format), Nodes::new(format)));
        }
        if let Some((table, nodes)) = &mut self.0
            && let Some(event) = table.event(line)?
        {
            nodes.add(&event);
        }
        Ok(())
    }
}

/// The nodes so far.
struct Nodes {
    format: RecordFormat,
    places: BTreeMap<(i64, i64), usize>,
    nodes: Vec<Node>,
    /// The node of the last event. Cached, because files list the events of one node consecutively.
    last: Option<((i64, i64), usize)>,
}

struct Node {
    identity: Identity,
    from: Time,
    until: Time,
    outages: Vec<Outage>,
}

impl Nodes {
    fn new(format: RecordFormat) -> Nodes {
        Nodes { format, places: BTreeMap::new(), nodes: Vec::new(), last: None }
    }

    fn add(&mut self, event: &Event<'_>) {
        let &Event { start, stop, .. } = event;
        let place = self.place(event);
        let node = &mut self.nodes[place];
        node.from = node.from.min(start);
        node.until = node.until.max(stop);
        // An event of a node that is up only extends the time of its observation.
        if event.is_down {
            node.outages.push(Outage { fail: start, restore: stop });
        }
    }

    fn place(&mut self, event: &Event<'_>) -> usize {
        if let Some((_, place)) = self.last.filter(|&(node, _)| node == event.node) {
            return place;
        }
        let nodes = &mut self.nodes;
        let place = *self.places.entry(event.node).or_insert_with(|| {
            let identity = match self.format {
                RecordFormat::Fta | RecordFormat::Csv => fta::identity(event.label),
                RecordFormat::Lanl => lanl::identity(event.node),
            };
            nodes.push(Node {
                identity,
                from: event.start,
                until: event.stop,
                outages: Vec::new(),
            });
            nodes.len() - 1
        });
        self.last = Some((event.node, place));
        place
    }

    fn finish(self) -> Vec<RecordedNode> {
        let from = self.nodes.iter().map(|node| node.from).min().unwrap_or(Time::ZERO);
        let until = self.nodes.iter().map(|node| node.until).max().unwrap_or(Time::ZERO);
        let recorded = |node: Node| {
            // Records of failures alone do not have the time of observation of a node. All nodes count
            // as observed from the first failure to the last repair of all nodes.
            let (from, until) = match self.format {
                RecordFormat::Fta => (node.from, node.until),
                RecordFormat::Lanl | RecordFormat::Csv => (from, until),
            };
            let Identity { name, site, cluster } = node.identity;
            RecordedNode {
                name,
                site,
                cluster,
                from,
                until,
                outages: OutageList::united(node.outages),
            }
        };
        self.nodes.into_iter().map(recorded).collect()
    }
}

/// The result of `parse` for a field, or a problem that names the field; `index` counts from 0.
pub(super) fn field<T>(
    index: usize,
    name: &'static str,
    text: &[u8],
    expected: &'static str,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<T, TraceProblem> {
    parse(text).ok_or_else(|| TraceProblem::Field {
        number: index + 1,
        name,
        expected,
        found: printable(text),
    })
}

/// The start of a field in a form that fits into a one-line message.
pub(super) fn printable(text: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 40;
    // Cut anywhere, even within a letter: the bytes are escaped below.
    let shown = &text[..text.len().min(SHOWN_BYTES_MAX)];
    let dots = if shown.len() < text.len() { "..." } else { "" };
    format!("{}{dots}", shown.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use RecordFormat::{Csv, Fta, Lanl};

    const FTA: &str = "\
# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason
0\t0\t7\t5\tG1/north/c1/a\t0\t1000\t1060\tNULL
1\t0\t7\t5\tG1/north/c1/a\t1\t1060\t1100\tNULL
0\t0\t9\t5\t G1/south/c1/b \t1\t1000\t1050\tNULL
1\t0\t9\t5\t G1/south/c1/b \t 0 \t1080\t1090\tNULL
2\t1\t9\t5\t G1/south/c1/b \t 0 \t1050\t1080.5\tNULL
";
    const LANL: &str = "\
System,nodes,nodenumz,Prob Started,Prob Fixed,Software
2,49,0,3/14/2001 10:54,3/14/2001 11:00,\"MPI, PVM\"
3,49,0,3/14/2001 11:54,3/14/2001 12:54,
2,49,0,3/14/2001 10:30,3/14/2001 10:55,
3,49,,3/14/2001 11:00,3/14/2001 11:10,
";

    fn refused(text: &str, format: RecordFormat) -> String {
        parse_bytes(text.as_bytes(), format, Malformed::Refuse).expect_err("malformed").to_string()
    }

    #[test]
    fn outages_of_a_node_are_sorted_and_united() {
        let recording = parse_bytes(FTA.as_bytes(), Fta, Malformed::Refuse);
        let recording = recording.expect("a good table");
        let [a, b] = &recording.nodes[..] else { panic!("{recording:?}") };
        assert_eq!((a.name.as_str(), a.site.as_str()), ("G1/north/c1/a", "north"));
        assert_eq!(b.cluster, "south/c1");
        let time = Time::from_secs;
        assert_eq!(a.outages.as_slice(), [Outage { fail: time(1000), restore: time(1060) }]);
        assert_eq!(b.outages.as_slice(), [Outage { fail: time(1050), restore: time(1090) }]);
        assert_eq!((recording.from(), recording.until()), (time(1000), time(1100)));
        assert_eq!(recording.availability(), 90.0 / 190.0);
    }

    #[test]
    fn records_of_failures_alone_span_the_whole_file() {
        let recording = parse_bytes(LANL.as_bytes(), Lanl, Malformed::Refuse);
        let recording = recording.expect("a good file");
        let [a, b, c] = &recording.nodes[..] else { panic!("{recording:?}") };
        assert_eq!((a.name.as_str(), b.site.as_str(), c.name.as_str()), ("2.0", "3", "3"));
        assert_eq!(a.down(), haggle_model::Span::from_secs(30 * 60));
        assert_eq!(b.until - b.from, haggle_model::Span::from_secs(144 * 60));
    }

    #[test]
    fn a_malformed_line_is_named_with_field_and_way_out() {
        const WAY_OUT: &str = "; correct the line, or have malformed lines skipped";
        assert_eq!(
            refused(&FTA.replace("\t1060\tNULL", "\tabc\tNULL"), Fta),
            format!(
                "<memory>:2: field 8 (event_stop_time): expected a time in seconds, found \"abc\"{WAY_OUT}"
            )
        );
        assert_eq!(
            refused(&FTA.replace("1060\t1100", "1060\t1059"), Fta),
            format!(
                "<memory>:3: field 8 (event_stop_time): expected a time that is not before event_start_time, found \"1059\"{WAY_OUT}"
            )
        );
        assert_eq!(
            refused(&FTA.replace("\tNULL", ""), Fta),
            format!("<memory>:2: expected 9 fields, found 8{WAY_OUT}")
        );
        assert_eq!(
            refused(&LANL.replace("3/14/2001 12:54", "2/30/2001 12:54"), Lanl),
            format!(
                "<memory>:3: field 5 (Prob Fixed): expected a date and time such as 3/14/2001 10:54, found \"2/30/2001 12:54\"{WAY_OUT}"
            )
        );
        assert_eq!(
            refused(&LANL.replace("Prob Fixed", "Fixed"), Lanl),
            "<memory>:1: no column \"Prob Fixed\" in the line of column names; expected the columns of LA-UR-05-7318"
        );
        assert_eq!(refused("# nothing\n", Fta), "<memory>: file holds no events that can be used");
    }

    #[test]
    fn plain_tables_have_seconds_or_dates() {
        let seconds =
            "node,start,end\n# by hand\nr1/n1,100,160\nr1/n2, 200 ,200\nr1/n1,1e3,1060.5\n";
        let dates = "\u{feff}Cause;Start;End;Node\r\n\
                     fan;1970-01-01 00:01:40;1970-01-01T00:02:40;r1/n1\r\n\
                     \"fan; again\";1970-01-01 00:03:20;1970-01-01 00:03:20;r1/n2\r\n\
                     fan;1970-01-01T01:16:40+01:00;1970-01-01T00:17:40.5Z;r1/n1\r\n";
        let read = |text: &str, format| {
            parse_bytes(text.as_bytes(), format, Malformed::Refuse).expect("a good table")
        };
        let nodes = read(seconds, Csv).nodes;
        let names: Vec<_> = nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["r1/n1", "r1/n2"]);
        let time = Time::from_secs;
        assert_eq!(nodes[1].outages.as_slice(), [Outage { fail: time(200), restore: time(200) }]);
        assert_eq!((nodes[1].from, nodes[0].outages.as_slice().len()), (time(100), 2));
        assert_eq!(read(dates, Csv).nodes, nodes);
        let message = refused("node,start\na,1\n", Csv);
        assert_eq!(
            message,
            "<memory>:1: no column \"end\" in the line of column names; expected a first line that names at least \
             the columns node, start and end"
        );
        assert!(
            refused("node,start,end\na,5,4\n", Csv)
                .contains("field 3 (end): expected a time that is not before start")
        );
        assert!(
            refused("node,start,end\n,5,6\n", Csv)
                .contains("field 1 (node): expected the name of a node")
        );
    }

    #[test]
    fn the_format_is_told_from_the_first_line() {
        let told = |text: &str| {
            let found = parse_bytes(text.as_bytes(), None, Malformed::Refuse);
            found.map(|it| it.format).map_err(|error| error.to_string())
        };
        let without_names = FTA.split_once('\n').map_or("", |(_, rest)| rest);
        for (text, format) in [
            (FTA, Fta),
            (without_names, Fta),
            (LANL, Lanl),
            ("# by hand\nnode,start,end\na,1,2\n", Csv),
        ] {
            assert_eq!(told(text), Ok(format));
        }
        let log = "1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1\n";
        for text in [log, &format!("; MaxProcs: 2\n{log}")] {
            let message = refused(text, Fta);
            assert!(
                message.contains("this looks like a log of jobs; `haggle workload inspect`"),
                "{message}"
            );
        }
        assert!(
            refused("[[failures]]\n", Csv).contains("looks like TOML"),
            "{}",
            refused("[[failures]]\n", Csv)
        );
    }

    #[test]
    fn a_line_of_names_needs_no_hash() {
        let read = |text: &str| {
            parse_bytes(text.as_bytes(), Fta, Malformed::Refuse).expect("a good table").nodes
        };
        let bare = FTA.trim_start_matches("# ");
        assert_eq!(read(bare), read(FTA));
        let tabs = bare.replacen(' ', "\t", 8);
        assert_eq!(read(&tabs.replacen("event_id", "Event_ID", 1)), read(FTA));
    }

    #[test]
    fn failures_of_no_length_count() {
        let text = FTA.replace("\t0\t1000\t1060\t", "\t0\t1000\t1000\t");
        let recording = parse_bytes(text.as_bytes(), Fta, Malformed::Refuse).expect("a good table");
        let time = Time::from_secs;
        let outages = recording.nodes[0].outages.as_slice();
        assert_eq!(outages, [Outage { fail: time(1000), restore: time(1000) }]);
    }

    #[test]
    fn malformed_lines_can_be_skipped_and_are_counted() {
        let text = FTA.replace("\t1060\tNULL", "\tabc\tNULL");
        let recording = parse_bytes(text.as_bytes(), Fta, Malformed::Skip);
        let recording = recording.expect("a good rest");
        assert_eq!(recording.skipped.count, 1);
        assert!(recording.skipped.first[0].starts_with("<memory>:2: field 8"));
        assert!(recording.nodes[0].outages.as_slice().is_empty());
    }

    #[test]
    fn a_missing_file_is_named() {
        let error =
            open(Path::new("no/such.tab"), Some(Lanl), Malformed::Refuse).expect_err("none");
        assert!(error.to_string().starts_with("no/such.tab: cannot open the file: "), "{error}");
    }
}
