//! Lengths of time, amounts and numbers of jobs as Slurm writes them.

use super::{Limit, Memory};
use crate::swf::number;
use haggle_model::Span;

/// Slurm's mark for memory of a processor, as a part of a number of MB.
const OF_PROCESSOR: f64 = (1_u64 << 31) as f64;

/// A length of time: `[days-]hours:minutes:seconds`, `minutes:seconds` with or without decimals.
pub(super) fn span(text: &[u8]) -> Option<Span> {
    let (days, clock) = match memchr::memchr(b'-', text) {
        Some(at) => (whole(&text[..at])?, &text[at + 1..]),
        None => (0, text),
    };
    let parts: Vec<&[u8]> = clock.split(|&byte| byte == b':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes, seconds] => (whole(hours)?, whole(minutes)?, seconds),
        [minutes, seconds] => (0, whole(minutes)?, seconds),
        _ => return None,
    };
    let seconds = number::span(seconds).ok().filter(|span| *span >= Span::ZERO)?;
    let before = days.checked_mul(24)?.checked_add(hours)?.checked_mul(60)?.checked_add(minutes)?;
    let before = before.checked_mul(60).filter(|&seconds| seconds <= number::SECONDS_MAX)?;
    Some(Span::from_secs(before) + seconds)
}

/// A time limit.
pub(super) fn limit(text: &[u8]) -> Option<Limit> {
    Some(match text {
        b"" | b"INVALID" => Limit::Unknown,
        b"UNLIMITED" => Limit::Unlimited,
        b"Partition_Limit" => Limit::OfPartition,
        _ => Limit::Of(span(text)?),
    })
}

/// A time limit in whole minutes.
pub(super) fn limit_in_minutes(text: &[u8]) -> Option<Limit> {
    match limit(text) {
        Some(limit) if !matches!(limit, Limit::Of(_)) => Some(limit),
        _ => {
            let minutes = whole(text).filter(|&minutes| minutes <= number::SECONDS_MAX / 60)?;
            Some(Limit::Of(Span::from_secs(minutes * 60)))
        }
    }
}

/// Requested memory, and whether Slurm's mark for memory of a processor was a part of the number.
pub(super) fn memory(text: &[u8]) -> Option<(Memory, bool)> {
    let (text, of): (_, fn(i64) -> Memory) = match text {
        [rest @ .., b'c'] => (rest, Memory::Processor),
        [rest @ .., b'n'] => (rest, Memory::Node),
        _ => (text, Memory::Job),
    };
    let (amount, power) = match text {
        [rest @ .., b'K'] => (rest, 0),
        [rest @ .., b'M'] => (rest, 1),
        [rest @ .., b'G'] => (rest, 2),
        [rest @ .., b'T'] => (rest, 3),
        [rest @ .., b'P'] => (rest, 4),
        _ => (text, 1),
    };
    let amount: f64 = std::str::from_utf8(amount).ok()?.parse().ok()?;
    let megabytes = amount * 1024_f64.powi(power - 1);
    if !(0.0..1e18).contains(&amount) || megabytes > 1e15 {
        return None;
    }
    let kilobytes = |megabytes: f64| (megabytes * 1024.0).ceil() as i64;
    // The memory of a whole job may really be that much.
    let is_of_job = matches!(of(1), Memory::Job(_));
    if !is_of_job && (OF_PROCESSOR..2.0 * OF_PROCESSOR).contains(&megabytes) {
        return Some((Memory::Processor(kilobytes(megabytes - OF_PROCESSOR)), true));
    }
    Some((of(kilobytes(megabytes)), false))
}

/// The number of one kind in a list of resources such as `billing=4,cpu=4,mem=8G,node=1`.
pub(super) fn resource(text: &[u8], kind: &[u8]) -> Option<i64> {
    whole(value_of(text, kind)?)
}

/// The text behind one kind in a list of resources.
pub(super) fn value_of<'a>(text: &'a [u8], kind: &[u8]) -> Option<&'a [u8]> {
    let mut parts = text.split(|&byte| byte == b',');
    parts.find_map(|part| part.strip_prefix(kind)?.strip_prefix(b"="))
}

/// The accelerators in a list of resources, of all types together: `gres/gpu=4,gres/gpu:a100=4` are four.
pub(super) fn gpus(text: &[u8]) -> Option<i64> {
    if let Some(all) = resource(text, b"gres/gpu") {
        return Some(all);
    }
    let typed = text.split(|&byte| byte == b',').filter_map(|part| {
        let part = part.strip_prefix(b"gres/gpu:")?;
        whole(&part[memchr::memchr(b'=', part)? + 1..])
    });
    typed.reduce(i64::saturating_add)
}

/// The number of a job or of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Job(i64),
    Step,
    /// A task of an array: number of the array and of the task.
    Task(i64, i64),
    /// The tasks of an array that have not started.
    Tasks(i64),
    /// A part of a heterogeneous job: number of its first part, and its place.
    Part(i64, i64),
}

impl Id {
    /// Reads `1234`, `1234.batch`, `1234_5`, `1234_[6-9%2]` or `1234+1`.
    pub(super) fn read(text: &[u8]) -> Option<Id> {
        let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        let job = whole(&text[..end])?;
        if memchr::memchr(b'.', &text[end..]).is_some() {
            return Some(Id::Step);
        }
        match &text[end..] {
            [] => Some(Id::Job(job)),
            [b'_', b'[', ..] => Some(Id::Tasks(job)),
            [b'_', task @ ..] => Some(Id::Task(job, whole(task)?)),
            [b'+', part @ ..] => Some(Id::Part(job, whole(part)?)),
            _ => None,
        }
    }

    /// The number of a record without the number that Slurm gives to each task and part.
    pub(super) fn number(self) -> i64 {
        match self {
            Id::Job(job) | Id::Tasks(job) => job,
            Id::Step => -1,
            // Seven digits have place for the tasks of any array.
            Id::Task(array, task) => array.saturating_mul(10_000_000).saturating_add(task),
            // Slurm numbers the parts in a row.
            Id::Part(first, place) => first.saturating_add(place),
        }
    }
}

/// A number of digits alone.
pub(super) fn whole(text: &[u8]) -> Option<i64> {
    let is_number = (1..=15).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    if !is_number {
        return None;
    }
    Some(text.iter().fold(0, |value, byte| value * 10 + i64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        let seconds = |text: &str| span(text.as_bytes()).map(|span| span.as_micros() as f64 / 1e6);
        assert_eq!(seconds("00:01:30"), Some(90.0));
        assert_eq!(seconds("2-03:00:01"), Some(183_601.0));
        assert_eq!(seconds("01:02.500"), Some(62.5));
        for wrong in
            ["", "5", "1-2-00:00", "a:b:c", "-1:00:00", "1:00:00:00", "999999999999999-00:00:00"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn limits() {
        let hour = Limit::Of(Span::from_secs(3_600));
        assert_eq!(limit(b"01:00:00"), Some(hour));
        assert_eq!(limit_in_minutes(b"60"), Some(hour));
        assert_eq!(limit(b"UNLIMITED"), Some(Limit::Unlimited));
        assert_eq!(limit_in_minutes(b"Partition_Limit"), Some(Limit::OfPartition));
        assert_eq!(limit_in_minutes(b"01:00:00"), None);
        assert_eq!(limit(b"soon"), None);
    }

    #[test]
    fn amounts_of_memory() {
        let read = |text: &str| memory(text.as_bytes());
        assert_eq!(read("4Gc"), Some((Memory::Processor(4 << 20), false)));
        assert_eq!(read("64000Mn"), Some((Memory::Node(64_000 << 10), false)));
        assert_eq!(read("1.50T"), Some((Memory::Job(3 << 29), false)));
        assert_eq!(read("512"), Some((Memory::Job(512 << 10), false)));
        // The flag of Slurm for memory of a processor, printed as a part of the number.
        assert_eq!(read("2147486448Mn"), Some((Memory::Processor(2_800 << 10), true)));
        assert_eq!(read("3P"), Some((Memory::Job(3 << 40), false)));
        for wrong in ["", "G", "-1G", "x", "inf", "1e30G"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_of_jobs() {
        let read = |text: &str| Id::read(text.as_bytes());
        assert_eq!(read("1234"), Some(Id::Job(1234)));
        assert_eq!(
            [read("1234.batch"), read("1234_5.0"), read("1234+1.extern")],
            [Some(Id::Step); 3]
        );
        assert_eq!(read("1234_5"), Some(Id::Task(1234, 5)));
        assert_eq!(read("1234_[6-9%2]"), Some(Id::Tasks(1234)));
        assert_eq!(read("1234+1"), Some(Id::Part(1234, 1)));
        assert_eq!(Id::Task(1234, 5).number(), 12_340_000_005);
        assert_eq!(Id::Part(1234, 1).number(), 1235);
        for wrong in ["", "x", "12x", "12_", "12+"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lists_of_resources() {
        let list = b"billing=64,cpu=16,gres/gpu=4,mem=8G,node=2";
        assert_eq!((resource(list, b"cpu"), resource(list, b"node")), (Some(16), Some(2)));
        assert_eq!(resource(list, b"gpu"), None);
        assert_eq!(gpus(list), Some(4));
        assert_eq!(gpus(b"cpu=2,gres/gpu:a100=1,gres/gpu:k80=2"), Some(3));
        assert_eq!(gpus(b"cpu=2,gres/gpu=3,gres/gpu:a100=1,gres/gpu:k80=2"), Some(3));
        assert_eq!(gpus(b"cpu=2,gres/gpuutil=3"), None);
    }
}
