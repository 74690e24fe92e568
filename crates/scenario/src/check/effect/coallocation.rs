//! Keys of a co-allocation that have no effect.

use haggle_config::document::Path;
use haggle_scheduling::coallocation::CoallocationPolicy;

use crate::check::Check;
use crate::file::Coallocation;

impl Check<'_> {
    /// Keys that are read only under a protocol, and keys that are read only without one.
    pub(super) fn coallocation_effects(
        &mut self,
        path: &Path,
        owner: &str,
        coallocation: &Coallocation,
        providers: usize,
    ) {
        let owner = format!("the co-allocation of {owner}");
        let protocol = coallocation.protocol.as_ref();
        let divides = "under a protocol every provider is asked for an equal part";
        let remove = "remove it, or remove `protocol`";
        let answers = "without a `protocol` there is no answer to wait for";
        let choose = "remove it, or choose a `protocol`";
        let (waits, why, remedy) = match protocol {
            None => (false, answers, choose),
            Some(it) => {
                let why = "a claim is made until there is room, or `claims` are used up";
                (it.has_patience(), why, "remove it, or set `claims`")
            }
        };
        let rigid = coallocation.policy.moves() == CoallocationPolicy::Rigid;
        let (moves, still, remedy_of_still) = if protocol.is_some() {
            (false, "parts that a protocol has got stay where they are", remove)
        } else if rigid {
            (false, "under policy \"rigid\" no job moves", "remove it, or choose another `policy`")
        } else {
            let one = "a job at a single provider has no parts that move";
            (providers > 1, one, "remove it, or add a [[provider]]")
        };
        let rows = [
            ("requests", moves, still, remedy_of_still),
            ("fill", protocol.is_none(), divides, remove),
            ("part-min", protocol.is_none(), divides, remove),
            ("parts", protocol.is_none(), divides, remove),
            ("patience", waits, why, remedy),
            ("back-off", protocol.is_some(), answers, choose),
        ];
        for (key, read, why, remedy) in rows {
            self.uses(&path.key(key), read, &owner, why, remedy);
        }
        let alone = "a job in `parts` is never at one provider alone";
        let remap = path.key("policy").key("remap");
        self.uses(
            &remap,
            coallocation.parts.is_none(),
            &owner,
            alone,
            "remove it, or remove `parts`",
        );
    }
}
