//! temporary
#![allow(missing_docs)]
use crate::scenario::{Scenario, file};
use haggle_model::workload::{
    LublinParameters, OpenWorkload, Rules, Source, Step, Workload, WorkloadError,
};
use std::path::{Path, PathBuf};
pub struct Workloads<'a> {
    s: &'a Scenario,
    f: PathBuf,
    seed: u64,
}
impl<'a> Workloads<'a> {
    pub fn new(s: &'a Scenario, f: &Path, seed: u64) -> Self {
        Workloads { s, f: f.to_owned(), seed }
    }
    pub fn open(&self, name: &str) -> Result<OpenWorkload, WorkloadError> {
        let (i, w) =
            self.s.workloads.iter().enumerate().find(|(_, w)| w.name.as_str() == name).unwrap();
        let src = if let Some(l) = &w.log {
            let p = crate::scenario::log_path(l, &self.f).unwrap();
            Source::Log { path: p, rules: Rules::canonical() }
        } else {
            let l = w.lublin.as_ref().unwrap();
            let mut p = LublinParameters::default().sized(l.processors);
            p.jobs = l.jobs;
            Source::Lublin(Box::new(p))
        };
        let mut wl = Workload::new(name, src);
        wl.index = i as u16;
        wl.seed = self.seed;
        for s in &w.steps {
            match s {
                file::Step::First { jobs } => wl.steps.push(Step::First(*jobs)),
                file::Step::Estimates { .. } => {
                    wl.steps.push(Step::Estimates(haggle_model::workload::steps::Estimates::Exact))
                }
                _ => {}
            }
        }
        wl.open()
    }
    pub fn inputs(&self) -> Vec<(String, PathBuf)> {
        self.s
            .workloads
            .iter()
            .filter_map(|w| w.log.as_ref())
            .map(|l| (l.clone(), crate::scenario::log_path(l, &self.f).unwrap()))
            .collect()
    }
}
