//! Co-allocation protocols of Netto 2009, chapter 2: their properties (table 2.6), and the effect of
//! how messages are delivered (section 1.4.2).

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use haggle_agreements::protocol::Outcome;
use haggle_model::Span;

use super::{Compute, Effort};
use crate::Library;
use crate::data::Data;
use haggle_experiment::transactions::transactions;
use haggle_scenario::{Experiment, Logs, Setting, Variant};
use haggle_trial::verify::{Verdict, verify};

const STUDY: &str = "netto-protocols";

/// The scenarios of a file of the study with this value on an axis, each with its protocol.
fn variants(
    file: &str,
    (axis, value): (&str, &str),
) -> Result<(PathBuf, Vec<(String, Variant)>), String> {
    let source = Library::Embedded.read(STUDY, file).map_err(|error| error.to_string())?;
    let folder = source.folder().to_owned();
    let experiment =
        Experiment::read(source, Logs::MustExist).map_err(|error| error.to_string())?;
    let on = |variant: &Variant, axis: &str| {
        variant.settings.iter().find(|it| it.axis == axis).map(Setting::text)
    };
    let chosen = experiment.variants.into_iter().filter_map(|variant| {
        // A scenario without a protocol is no rival here.
        let protocol = on(&variant, "protocol")?;
        (on(&variant, axis)? == value).then_some((protocol, variant))
    });
    Ok((folder, chosen.collect()))
}

/// Table 2.6: properties of the protocols of co-allocation systems, as stated by the protocols.
pub(super) struct ProtocolTraits;

impl Compute for ProtocolTraits {
    fn name(&self) -> &'static str {
        "protocol-traits"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["protocol"]);
        for (protocol, variant) in variants("counts.toml", ("providers", "2"))?.1 {
            let own = transactions(&variant.scenario, Span::ZERO).into_iter().flatten().next();
            let own = own.ok_or_else(|| format!("\"{protocol}\" has no protocol"))?;
            let traits = own.traits();
            let is = |outcome| f64::from(traits.outcome == outcome);
            let values = [
                ("atomic", is(Outcome::Atomic)),
                ("compensated", is(Outcome::Compensated)),
                ("orphans", is(Outcome::Orphans)),
                ("waits", f64::from(traits.waits)),
                ("blocks", f64::from(own.may_block())),
                ("advance", f64::from(!own.traits().immediate)),
            ];
            data.push(&[&protocol], 1, &values);
        }
        Ok(data)
    }
}

/// Section 1.4.2: a comparison of the order of events for messages as calls and for messages through
/// mailboxes.
pub(super) struct Deliveries;

impl Compute for Deliveries {
    fn name(&self) -> &'static str {
        "protocol-deliveries"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["protocol"]);
        let (folder, variants) = variants("rivals.toml", ("rivals", "2"))?;
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        for (protocol, variant) in variants {
            let stop = AtomicBool::new(false);
            let (verdict, _) = verify(&variant.scenario, &folder, scratch.path(), &stop)
                .map_err(|error| error.to_string())?;
            let (same, lines) = match verdict {
                Verdict::Same { lines } => (1.0, lines),
                Verdict::Differs(difference) => (0.0, difference.line),
            };
            data.push(&[&protocol], 1, &[("same", same), ("lines", lines as f64)]);
        }
        Ok(data)
    }
}
