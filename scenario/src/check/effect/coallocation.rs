//! What a co-allocation does not read of its keys.

use crate::check::Check;
use crate::file::Coallocation;
use haggle_config::document::Path;

impl Check<'_> {
    /// Keys for jobs whose parts are got by a protocol, and keys for all others.
    pub(super) fn coallocation_effects(
        &mut self,
        path: &Path,
        owner: &str,
        coallocation: &Coallocation,
    ) {
        let owner = format!("the co-allocation of {owner}");
        let protocol = coallocation.protocol.as_ref();
        let why = "under a protocol every provider is asked for an equal part";
        for key in ["fill", "part-min"] {
            let read = protocol.is_none();
            self.uses(&path.key(key), read, &owner, why, "remove it, or remove `protocol`");
        }
        let why = "without a `protocol` nobody waits for an answer";
        for key in ["patience", "retry", "back-off"] {
            let read = protocol.is_some();
            self.uses(&path.key(key), read, &owner, why, "remove it, or choose a `protocol`");
        }
        if protocol.is_some_and(|it| !it.has_patience()) {
            let why = "a claim is made until it has been in vain for `claims` times";
            self.uses(&path.key("patience"), false, &owner, why, "remove it");
        }
    }
}
