//! The columns of a table that a converted log keeps unchanged.

use super::error::LogProblem;

/// All columns that have no place in a record.
const ALL: &str = "all";

/// Columns that are kept, by their places and names.
pub(super) struct Kept {
    places: Vec<usize>,
    names: Vec<String>,
}

impl Kept {
    /// The columns of `keep` among `names`. `others` has the places of the columns that no record uses;
    /// those of them that are not kept are returned as well, each with its name as a fact.
    pub(super) fn choose(
        names: &[String],
        others: Vec<usize>,
        keep: &[String],
    ) -> Result<(Kept, Vec<(usize, String)>), LogProblem> {
        let mut places = Vec::new();
        for wanted in keep {
            if wanted == ALL {
                places.extend(&others);
                continue;
            }
            let place = names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
            let Some(place) = place else {
                let all = names.join(", ");
                return Err(LogProblem::Whole(format!(
                    "no column {wanted:?} to keep; the log has {all}"
                )));
            };
            places.push(place);
        }
        let dropped = others.into_iter().filter(|place| !places.contains(place));
        let dropped = dropped.map(|place| (place, format!("column {}", names[place]))).collect();
        let names = places.iter().map(|&place| names[place].clone()).collect();
        Ok((Kept { places, names }, dropped))
    }

    /// Places of the columns in a line.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// Their names.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }
}
