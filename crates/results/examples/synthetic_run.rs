//! Writes a made-up run of any size: `synthetic_run FOLDER JOBS MESSAGES`.
//!
//! Two providers serve jobs first come, first served. For measuring the writer and
//! for feeding readers and figures; nothing about it is meant to be realistic.

#![allow(clippy::print_stdout)] // it is a command

#[path = "../tests/behaviour/made_up.rs"]
mod made_up;

use std::path::Path;

use haggle_results::{Existing, Format, WriteOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, jobs, messages] = arguments.as_slice() else {
        return Err("usage: synthetic_run FOLDER JOBS MESSAGES".into());
    };
    let options = WriteOptions {
        format: match std::env::var("FORMAT").as_deref() {
            Ok("csv") => Format::Csv,
            Ok("parquet") => Format::Parquet,
            _ => Format::Both,
        },
        existing: Existing::Replace,
        ..WriteOptions::default()
    };
    let records = made_up::records(jobs.parse()?);
    let begin = processor_seconds();
    let (summary, digest) =
        made_up::write(Path::new(folder), options, &records, messages.parse()?)?;
    if let (Some(begin), Some(end)) = (begin, processor_seconds()) {
        println!("summed up and written in {:.3} s of processor time", end - begin);
    }
    println!("{summary}\n{digest}");
    Ok(())
}

/// Processor time of this thread so far, where the system tells (Linux).
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
