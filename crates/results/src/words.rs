//! Codes for the words of a column.

use std::sync::Arc;

use bytes::Bytes;
use haggle_model::{Cast, JobClass};

/// Words of a column that are known before the run. Their codes are their places there. Other words get
/// codes in the order of their appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// None.
    Found,
    /// The names of workloads.
    Workloads,
    /// The names of providers.
    Providers,
    /// The names of actors.
    Actors,
    /// The names of sites, then of the services that keep data.
    Sites,
    /// The classes of jobs.
    Classes,
}

/// Words known before a run. A grid has hundreds of thousands of names, so all tables share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    workloads: Texts,
    providers: Texts,
    actors: Texts,
    sites: Texts,
    classes: Texts,
}

impl Known {
    pub(crate) fn of(cast: &Cast) -> Known {
        let sites = cast.sites.iter().map(|site| site.name.as_str());
        Known {
            workloads: Texts::of(cast.workloads.iter().map(String::as_str)),
            providers: Texts::of(cast.providers.iter().map(|it| it.name.as_str())),
            actors: Texts::of(cast.actors.iter().map(|it| it.name.as_str())),
            // Both services come behind all sites, as in `Ways::code`.
            sites: Texts::of(sites.chain(["(storage)", "(checkpoints)"])),
            classes: Texts::of([JobClass::Local, JobClass::External].map(JobClass::name)),
        }
    }

    /// The initial words of a column, in the order of their codes.
    pub(crate) fn words(&self, which: Words) -> WordList {
        let known = match which {
            Words::Found => Texts::default(),
            Words::Workloads => self.workloads.clone(),
            Words::Providers => self.providers.clone(),
            Words::Actors => self.actors.clone(),
            Words::Sites => self.sites.clone(),
            Words::Classes => self.classes.clone(),
        };
        WordList { known, found: Vec::new() }
    }
}

/// Constant texts, one after the other; copies share them.
#[derive(Clone, Debug, Default)]
struct Texts {
    bytes: Bytes,
    /// The end of each text.
    ends: Arc<[u32]>,
}

impl Texts {
    fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Texts {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(u32::try_from(bytes.len()).expect("names have less than 4 GiB"));
        }
        Texts { bytes: bytes.into(), ends: ends.into() }
    }

    fn place(&self, at: usize) -> std::ops::Range<usize> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[at] as usize
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|at| &self.bytes[self.place(at)])
    }
}

/// The words of a column: those known before the run, then new ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordList {
    known: Texts,
    found: Vec<Bytes>,
}

impl WordList {
    pub(crate) fn len(&self) -> usize {
        self.known.ends.len() + self.found.len()
    }

    /// The word of a code.
    pub(crate) fn get(&self, code: u32) -> &[u8] {
        match (code as usize).checked_sub(self.known.ends.len()) {
            None => &self.known.bytes[self.known.place(code as usize)],
            Some(found) => &self.found[found],
        }
    }

    /// The word of a code, as a shared buffer.
    pub(crate) fn share(&self, code: u32) -> Bytes {
        match (code as usize).checked_sub(self.known.ends.len()) {
            None => self.known.bytes.slice(self.known.place(code as usize)),
            Some(found) => self.found[found].clone(),
        }
    }

    /// Adds a word and returns its code.
    pub(crate) fn push(&mut self, word: impl Into<Bytes>) -> u32 {
        self.found.push(word.into());
        self.len() as u32 - 1
    }

    /// The code of a word, which is added if it is new.
    pub(crate) fn code_of(&mut self, word: &str) -> u32 {
        // There are few words, so a comparison with each is faster than hashing.
        let is_it = |known: &[u8]| known == word.as_bytes();
        let code = self.known.texts().chain(self.found.iter().map(Bytes::as_ref)).position(is_it);
        match code {
            Some(code) => code as u32,
            None => self.push(word.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_codes_whether_known_or_found() {
        let cast = Cast { workloads: vec!["".into(), "jobs".into()], ..Cast::default() };
        let mut words = Known::of(&cast).words(Words::Workloads);
        let codes = ["jobs", "late", "", "late", "later"].map(|word| words.code_of(word));
        assert_eq!((codes, words.len()), ([1, 2, 0, 2, 3], 4));
        for (code, word) in (0..).zip(["", "jobs", "late", "later"]) {
            assert_eq!(
                (words.get(code), &words.share(code)[..]),
                (word.as_bytes(), word.as_bytes())
            );
        }
    }
}
