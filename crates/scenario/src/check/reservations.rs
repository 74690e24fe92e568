//! Reservations: users that ask for them, and providers that grant them.

use super::Check;
use super::names::Names;
use crate::file::Policy;
use haggle_config::document::Path;

impl Check<'_> {
    /// Jobs with reservations must be submitted to providers that reserve.
    pub(super) fn check_reserving(&mut self, index: usize, names: &Names) {
        let user = &self.scenario.users[index];
        if !self.directory.reserves(user.workload.as_str()) {
            return;
        }
        let (workload, target) = (&user.workload, &user.submits_to);
        let place = names.providers.get(target.as_str());
        let policy = place.map(|&place| {
            let path = Path::root().key("provider").index(place).key("policy");
            (&self.scenario.providers[place].policy, self.is_replaced(&path))
        });
        let help = match policy {
            // A stand-in for a wrong policy may have meant this one.
            Some((Policy::Reservations(_), _) | (_, true)) => return,
            Some(_) => format!(
                "set `policy = \"reservations\"` for provider \"{target}\", or remove step \
                 \"reservations\""
            ),
            None => "submit to a provider with `policy = \"reservations\"`, or remove step \
                     \"reservations\""
                .to_owned(),
        };
        self.report(
            &Path::root().key("user").index(index).key("submits-to"),
            format!("the jobs of \"{workload}\" need reservations, and \"{target}\" grants none"),
            "reserves none",
            help,
        );
    }
}
