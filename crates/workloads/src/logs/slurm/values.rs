//! Values of Slurm's commands beside its accounting of jobs.

use haggle_model::Span;

use super::units;
use super::{Limit, Memory};

/// Trackable resources, as in `cpu=8,mem=16G,node=2,gres/gpu=1`; `None` = not in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tres {
    /// Processors.
    pub processors: Option<u64>,
    /// Memory (B).
    pub memory: Option<u64>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Accelerators of all types.
    pub gpus: Option<u64>,
    /// Names of all others.
    pub others: Vec<String>,
}

impl Tres {
    /// Reads a list; `None` if an amount is not a number.
    pub fn read(text: &str) -> Option<Tres> {
        let mut tres = Tres::default();
        let number = |value: &str| units::whole(value.as_bytes())?.try_into().ok();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            match name {
                "cpu" => tres.processors = Some(number(value)?),
                "node" => tres.nodes = Some(number(value)?),
                "mem" => tres.memory = Some(memory(value)?),
                "gres/gpu" => tres.gpus = Some(number(value)?),
                // The count of all types stands beside those of each type, where it is tracked.
                _ if name.starts_with("gres/gpu:") && text.contains("gres/gpu=") => {}
                _ if name.starts_with("gres/gpu:") => {
                    tres.gpus = Some(tres.gpus.unwrap_or(0).saturating_add(number(value)?));
                }
                // An effect of the others.
                "billing" => {}
                _ => tres.others.push(name.to_owned()),
            }
        }
        Some(tres)
    }
}

/// An amount of memory (B), in MiB if it has no unit.
pub fn memory(text: &str) -> Option<u64> {
    match units::memory(text.as_bytes())? {
        (Memory::Job(kilobytes), _) => u64::try_from(kilobytes).ok()?.checked_mul(1_024),
        _ => None,
    }
}

/// A length of time such as `1-02:03:04`; the inner `None` = without limit.
pub fn limit(text: &str) -> Option<Option<Span>> {
    match units::limit(text.as_bytes())? {
        Limit::Of(span) => Some(Some(span)),
        Limit::Unlimited | Limit::Unknown | Limit::OfPartition => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_resources() {
        let tres =
            Tres::read("billing=4,cpu=8,gres/gpu:a100=1,gres/gpu:k80=2,mem=16G,node=2,fs/disk=1");
        let expected = Tres {
            processors: Some(8),
            memory: Some(16 << 30),
            nodes: Some(2),
            gpus: Some(3),
            others: vec!["fs/disk".to_owned()],
        };
        assert_eq!(tres, Some(expected));
        assert_eq!(Tres::read("gres/gpu=4,gres/gpu:a100=3").and_then(|it| it.gpus), Some(4));
        assert_eq!(Tres::read(""), Some(Tres::default()));
        assert_eq!((Tres::read("cpu"), Tres::read("cpu=x")), (None, None));
        assert_eq!(
            (memory("4000M"), memory("4000"), memory("x")),
            (Some(4_000 << 20), Some(4_000 << 20), None)
        );
        assert_eq!(limit("UNLIMITED"), Some(None));
        assert_eq!(limit("00:05:00"), Some(Some(Span::from_secs(300))));
    }
}
