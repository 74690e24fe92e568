//! The fields of `sacct`: their places in a log, and the use of each.

use super::super::super::error::LogProblem;
use super::super::super::keep::Kept;
use super::super::super::zone;
use super::super::state::State;
use super::super::units::{self, Id};
use super::is_known;

/// A fact that a record needs, from the first of its names that a log has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    JobIdRaw,
    JobId,
    Submit,
    Start,
    End,
    ElapsedRaw,
    Elapsed,
    Suspended,
    TimelimitRaw,
    Timelimit,
    State,
    AllocCpus,
    ReqCpus,
    AllocTres,
    ReqTres,
    Nodes,
    ReqNodes,
    ReqMem,
    TotalCpu,
    Uid,
    User,
    Gid,
    Group,
    Qos,
    Partition,
}

/// The names of each field, in the order of [`Field`].
const NAMES: [&[&str]; 25] = [
    &["JobIDRaw"],
    &["JobID"],
    &["Submit"],
    &["Start"],
    &["End"],
    &["ElapsedRaw"],
    &["Elapsed"],
    &["Suspended"],
    &["TimelimitRaw"],
    &["Timelimit"],
    &["State"],
    &["AllocCPUS", "NCPUS"],
    &["ReqCPUS"],
    &["AllocTRES"],
    &["ReqTRES"],
    &["NNodes", "AllocNodes", "ReqNodes"],
    &["ReqNodes"],
    &["ReqMem"],
    &["TotalCPU"],
    &["UID"],
    &["User"],
    &["GID"],
    &["Group", "Account"],
    &["QOS"],
    &["Partition"],
];

/// Fields with texts that users choose, which may contain the delimiter.
const TEXTS: [&str; 14] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
    "WorkDir",
    "WCKey",
    "Extra",
    "Container",
    "StdIn",
    "StdOut",
    "StdErr",
    "Constraints",
    "Reason",
];

/// The fields of a log.
pub(super) struct Fields {
    names: Vec<String>,
    /// Place of each [`Field`].
    at: [Option<usize>; NAMES.len()],
    kept: Kept,
    /// Places of the columns of which nothing is used.
    pub(super) dropped: Vec<(usize, String)>,
    /// Places of the columns that may contain the delimiter.
    pub(super) texts: Vec<usize>,
}

impl Fields {
    /// Finds the fields in the names of a log; `keep` has the names of the columns that are kept unchanged. Jobs with
    /// demands use the columns of resources.
    pub(super) fn new(
        names: Vec<String>,
        keep: &[String],
        has_demands: bool,
    ) -> Result<Fields, LogProblem> {
        let place = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let at = NAMES.map(|all| all.iter().find_map(|name| place(name)));
        let texts = TEXTS.iter().filter_map(|name| place(name)).collect();
        let mut used: Vec<usize> = NAMES
            .iter()
            .zip(&at)
            // Names of one field stand for one fact, except users' names beside their numbers, and lists
            // of resources, of which only a part is used.
            .filter(|(all, _)| {
                let of_demands = matches!(all[0], "AllocTRES" | "ReqTRES" | "NNodes" | "ReqNodes");
                !matches!(all[0], "User" | "Group") && (has_demands || !of_demands)
            })
            .flat_map(|(all, _)| all.iter().filter_map(|name| place(name)))
            .collect();
        let found = |field: Field| at[field as usize];
        used.extend(found(Field::User).filter(|_| found(Field::Uid).is_none()));
        used.extend(found(Field::Group).filter(|_| found(Field::Gid).is_none()));
        let others = (0..names.len()).filter(|at| !used.contains(at)).collect();
        let (kept, dropped) = Kept::choose(&names, others, keep)?;
        let fields = Fields { names, at, kept, dropped, texts };
        fields.check()?;
        Ok(fields)
    }

    /// Checks that the log has what a record needs.
    fn check(&self) -> Result<(), LogProblem> {
        let has = |field| self.at(field).is_some();
        let missing = match () {
            () if !has(Field::JobIdRaw) && !has(Field::JobId) => "JobIDRaw",
            () if !has(Field::Submit) => "Submit",
            () if !has(Field::Start) && !has(Field::Elapsed) && !has(Field::ElapsedRaw) => "Start",
            () if !has(Field::End) && !has(Field::Elapsed) && !has(Field::ElapsedRaw) => "End",
            () if ![Field::AllocCpus, Field::ReqCpus, Field::AllocTres, Field::ReqTres]
                .into_iter()
                .any(has) =>
            {
                "AllocCPUS"
            }
            () => return Ok(()),
        };
        Err(LogProblem::Whole(format!(
            "no field {missing}; ask sacct for it, such as by `sacct -a -X -P -o \
             JobID,JobIDRaw,Submit,Start,End,Elapsed,Suspended,State,AllocCPUS,ReqCPUS,NNodes,Timelimit,ReqMem,UID,GID,\
             QOS,Partition`"
        )))
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Place of a field, if the log has it.
    pub(super) fn at(&self, field: Field) -> Option<usize> {
        self.at[field as usize]
    }

    /// Name of the column at a place.
    pub(super) fn name(&self, at: usize) -> &str {
        &self.names[at]
    }

    /// The columns that are kept.
    pub(super) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// True if the values of a line may belong to their columns: they have the form of times, numbers and
    /// states.
    pub(super) fn fit<'a>(&self, value: impl Fn(usize) -> &'a [u8]) -> bool {
        let is = |field, form: fn(&[u8]) -> bool| {
            let text = self.at(field).map_or(&b""[..], |at| value(at).trim_ascii());
            !is_known(text) || form(text)
        };
        let is_number: fn(&[u8]) -> bool = |text| units::whole(text).is_some();
        let is_id: fn(&[u8]) -> bool = |text| Id::read(text).is_some();
        let is_span: fn(&[u8]) -> bool = |text| units::span(text).is_some();
        [Field::Submit, Field::Start, Field::End].iter().all(|&it| is(it, zone::is_time))
            && [Field::JobIdRaw, Field::JobId].iter().all(|&it| is(it, is_id))
            && [Field::Elapsed, Field::Suspended, Field::TotalCpu].iter().all(|&it| is(it, is_span))
            && [
                Field::ElapsedRaw,
                Field::AllocCpus,
                Field::ReqCpus,
                Field::Nodes,
                Field::ReqNodes,
                Field::Uid,
                Field::Gid,
            ]
            .iter()
            .all(|&it| is(it, is_number))
            && is(Field::State, |text| State::read(text).is_some())
            && is(Field::Timelimit, |text| units::limit(text).is_some())
            && is(Field::TimelimitRaw, |text| units::limit_in_minutes(text).is_some())
            && is(Field::ReqMem, |text| units::memory(text).is_some())
    }
}
