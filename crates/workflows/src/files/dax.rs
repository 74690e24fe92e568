//! DAX, the abstract workflows of Pegasus in XML: schemas 2.1 to 3.6. The run time of a job is its
//! attribute `runtime`, as the generator of Bharathi et al. (2008) writes it. Alternatively, it is the
//! profile `runtime` of the namespace `pegasus`, as Pegasus' own libraries write it. If there are both,
//! the attribute counts.

use std::sync::Arc;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use rustc_hash::FxHashMap;

use super::draft::{Draft, Problem};
use super::size::Size;
use super::{FileProblem, Rules};
use crate::Task;

/// The jobs and files of a text of DAX.
pub(super) fn parse(text: &str, rules: Rules) -> Result<Draft, Problem> {
    let mut xml = Reader::from_str(text);
    let mut place = Place { text, passed: 0, line: 1 };
    let mut dax = Dax { rules, ..Dax::default() };
    let mut depth = 0_usize;
    loop {
        let line = place.line_of(xml.buffer_position());
        let at = |what: String| (line, FileProblem::Xml(what));
        let event = xml.read_event().map_err(|error| {
            (place.line_of(xml.error_position()), FileProblem::Xml(error.to_string()))
        })?;
        match event {
            Event::Start(element) => {
                // The reader has passed the white space before the element.
                let line = place.line_of(xml.buffer_position());
                dax.begin(&element, line, depth)?;
                depth += 1;
            }
            Event::Empty(element) => {
                let line = place.line_of(xml.buffer_position());
                dax.begin(&element, line, depth)?;
                // An element without content ends at the depth at which it begins.
                dax.end(depth)?;
            }
            Event::End(_) => {
                depth -= 1; // the reader pairs the ends with the begins
                dax.end(depth)?;
            }
            Event::Text(text) => dax.text(&text),
            Event::CData(text) => dax.text(&text),
            Event::Eof if depth > 0 => return Err(at("ends within an element".to_owned())),
            Event::Eof => break,
            // Comments, declarations and processing instructions have no tasks.
            _ => {}
        }
    }
    dax.finish()
}

/// Line numbers of ascending places.
struct Place<'a> {
    text: &'a str,
    passed: usize,
    line: usize,
}

impl Place<'_> {
    fn line_of(&mut self, place: u64) -> usize {
        let place = usize::try_from(place).map_or(self.text.len(), |at| at.min(self.text.len()));
        // Places ascend, so only the text since the last one is counted.
        if place > self.passed {
            let passed = &self.text.as_bytes()[self.passed..place];
            self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
            self.passed = place;
        }
        self.line
    }
}

#[derive(Default)]
struct Dax {
    rules: Rules,
    draft: Option<Draft>,
    job: Option<Job>,
    child: Option<String>,
    kinds: FxHashMap<String, Arc<str>>, // looked up only
    /// Parents and children with their lines; their jobs may come later in the file.
    edges: Vec<(String, String, usize)>,
}

/// A job whose element has not ended.
struct Job {
    id: String,
    kind: Option<Arc<str>>,
    line: usize,
    /// The attribute `runtime`.
    runtime: Option<String>,
    /// The profile of that name, as far as it has been read.
    profile: Option<String>,
    in_profile: bool,
    uses: Vec<Use>,
}

/// A file that a job uses.
struct Use {
    file: String,
    bytes: u64,
    is_read: bool,
    is_written: bool,
}

impl Dax {
    fn begin(
        &mut self,
        element: &BytesStart<'_>,
        line: usize,
        depth: usize,
    ) -> Result<(), Problem> {
        let local = element.local_name();
        let name: &str = local.as_ref();
        let at = |what: String| (line, FileProblem::Xml(what));
        let Some(draft) = &mut self.draft else {
            if name != "adag" || depth > 0 {
                return Err(at(format!("the root is <{name}>; expected <adag>")));
            }
            let [title] = attributes(element, ["name"]).map_err(at)?;
            self.draft = Some(Draft::new(title.as_deref().unwrap_or("workflow"), self.rules));
            return Ok(());
        };
        match (depth, name) {
            (1, "job") => {
                let [id, kind, runtime] =
                    attributes(element, ["id", "name", "runtime"]).map_err(at)?;
                let id = id.ok_or_else(|| at("a job has no id".to_owned()))?;
                let kind = kind.map(|kind| {
                    let known =
                        self.kinds.entry(kind).or_insert_with_key(|kind| Arc::from(&**kind));
                    Arc::clone(known)
                });
                let (profile, in_profile, uses) = (None, false, Vec::new());
                self.job = Some(Job { id, kind, line, runtime, profile, in_profile, uses });
            }
            (1, "dag" | "dax") => {
                return Err(at(format!("<{name}> is a workflow in a workflow; put its jobs here")));
            }
            (2, "uses") => {
                // Transformations have `uses` as well, but are no jobs.
                if let Some(job) = &mut self.job {
                    job.uses.extend(uses(draft, element, &job.id, line)?);
                }
            }
            (2, "profile") => {
                if let Some(job) = &mut self.job {
                    let [namespace, key] = attributes(element, ["namespace", "key"]).map_err(at)?;
                    job.in_profile = namespace.is_some_and(|it| it.eq_ignore_ascii_case("pegasus"))
                        && key.is_some_and(|it| it.eq_ignore_ascii_case("runtime"));
                }
            }
            (1, "child") => {
                let [child] = attributes(element, ["ref"]).map_err(at)?;
                self.child = Some(child.ok_or_else(|| at("a child has no ref".to_owned()))?);
            }
            (2, "parent") => {
                let [parent] = attributes(element, ["ref"]).map_err(at)?;
                let parent = parent.ok_or_else(|| at("a parent has no ref".to_owned()))?;
                if let Some(child) = &self.child {
                    self.edges.push((parent, child.clone(), line));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        // The text of an element may come in several parts.
        if let Some(job) = self.job.as_mut().filter(|job| job.in_profile) {
            job.profile.get_or_insert_default().push_str(text);
        }
    }

    fn end(&mut self, depth: usize) -> Result<(), Problem> {
        match (depth, &mut self.draft, &mut self.job) {
            (2, _, Some(job)) => job.in_profile = false,
            (1, Some(draft), job) => {
                self.child = None;
                if let Some(job) = job.take() {
                    job.add(draft)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<Draft, Problem> {
        let none = || (0, FileProblem::Xml("there is no <adag>".to_owned()));
        let mut draft = self.draft.ok_or_else(none)?;
        for (parent, child, line) in self.edges {
            let unknown = |name: &str, other: &str| {
                let (name, other) = (name.to_owned(), other.to_owned());
                (line, FileProblem::UnknownTask { name, other })
            };
            let child_id = draft.id(&child).ok_or_else(|| unknown(&parent, &child))?;
            let parent_id = draft.id(&parent).ok_or_else(|| unknown(&child, &parent))?;
            draft.edge(parent_id, child_id);
        }
        Ok(draft)
    }
}

impl Job {
    /// Adds the job as a task.
    fn add(self, draft: &mut Draft) -> Result<(), Problem> {
        let Job { id, kind, line, runtime, profile, uses, .. } = self;
        let of_job = |what| (line, FileProblem::Task { name: id.clone(), what });
        let runtime = runtime.or(profile).ok_or_else(|| {
            of_job("no run time; add runtime, as an attribute or as a profile of namespace pegasus")
        })?;
        let seconds = runtime.trim().parse();
        let seconds = seconds.map_err(|_| of_job("run time is no number of seconds"))?;
        let work = draft.work(&id, seconds).map_err(|problem| (line, problem))?;
        let task = draft.task(Task { kind, ..Task::new(id.as_str(), work) }, line)?;
        for Use { file, bytes, is_read, is_written } in uses {
            if is_read {
                draft.reads(task, &file, bytes);
            }
            if is_written {
                draft.writes(task, &file, bytes);
            }
        }
        Ok(())
    }
}

/// The file that an element names; `None` for executables and files that are not transferred.
fn uses(
    draft: &mut Draft,
    element: &BytesStart<'_>,
    name: &str,
    line: usize,
) -> Result<Option<Use>, Problem> {
    let found = attributes(element, ["file", "name", "link", "size"]);
    let [file, named, link, size] = found.map_err(|what| (line, FileProblem::Xml(what)))?;
    let of_task = |what| (line, FileProblem::Task { name: name.to_owned(), what });
    let (is_read, is_written) = match link.as_deref() {
        Some("input") => (true, false),
        Some("output") => (false, true),
        Some("inout") => (true, true),
        _ => return Ok(None),
    };
    let file = file.or(named).ok_or_else(|| of_task("a file has no name; add file or name"))?;
    let no_size = || (line, FileProblem::NoSize { name: name.to_owned(), file: file.clone() });
    let size = Size::of(&size.ok_or_else(no_size)?);
    let bytes = draft.bytes(name, &file, &size).map_err(|problem| (line, problem))?;
    Ok(Some(Use { file, bytes, is_read, is_written }))
}

/// The values of attributes by their names.
fn attributes<const N: usize>(
    element: &BytesStart<'_>,
    names: [&str; N],
) -> Result<[Option<String>; N], String> {
    let mut values = [const { None }; N];
    // The reader's own check would compare each attribute with all others.
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let Some(place) = names.iter().position(|&name| name == attribute.key.as_ref()) else {
            continue;
        };
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| error.to_string())?.into_owned();
        if values[place].replace(value).is_some() {
            return Err(format!("attribute {} is given twice", names[place]));
        }
    }
    Ok(values)
}
