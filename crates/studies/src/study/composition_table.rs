//! Table 6.1 of Netto 2009: the composition of three providers' offers when a
//! bag of 512 tasks cannot meet its deadline of 40.

use haggle_model::{Disclosure, Span, Time};
use haggle_scheduling::composition::{AnyView, BagCall, Composition, Facts, FreeTime, QueueEntry};
use haggle_scheduling::{Award, CompositionOptions, CompositionPolicy, Offer};

use super::{Compute, Effort};
use crate::data::Data;

/// The offers of the table, by provider: (tasks, completion).
const OFFERS: [&[(u32, i64)]; 3] =
    [&[(256, 40), (512, 100)], &[(128, 40), (512, 200)], &[(64, 40), (512, 200)]];

/// The study.
pub(super) struct CompositionTable;

impl Compute for CompositionTable {
    fn name(&self) -> &'static str {
        "composition-table"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["provider"]);
        let all = compose(&OFFERS).ok_or("nothing was composed")?;
        // The result with the best single offer, (256, 40) of provider 1, and no other offer of that
        // provider.
        let forced = compose(&[&OFFERS[0][..1], OFFERS[1], OFFERS[2]]).ok_or("nothing")?;
        for provider in 0..OFFERS.len() {
            let part = all.parts.iter().find(|part| part.provider == provider);
            let (tasks, completion) = match part.map(|part| &part.award) {
                Some(Award::Offered { tasks, offer }) => (*tasks, seconds(offer.completion)),
                _ => (0, 0.0),
            };
            let values = [
                ("tasks", f64::from(tasks)),
                ("completion", completion),
                ("bag_completion", seconds(all.completion)),
                ("bag_completion_with_the_best_offer", seconds(forced.completion)),
            ];
            data.push(&[&(provider + 1).to_string()], 1, &values);
        }
        Ok(data)
    }
}

fn seconds(time: Time) -> f64 {
    (time - Time::ZERO).as_secs_f64()
}

fn compose(offers: &[&[(u32, i64)]]) -> Option<Composition> {
    let offer = |&(tasks, at): &(u32, i64)| Offer { tasks, completion: Time::from_secs(at) };
    let views: Vec<AnyView> = offers
        .iter()
        .map(|offers| {
            let mut told = Told(offers.iter().map(offer).collect());
            AnyView::disclose(Disclosure::Offers, &mut told)
        })
        .collect();
    let bag = BagCall {
        tasks: 512,
        span: Span::from_secs(1),
        deadline: Some(Time::from_secs(40)),
        now: Time::ZERO,
    };
    CompositionPolicy::OffersNoLb.compose(&bag, &views, CompositionOptions::default(), 0)
}

/// Facts with offers only.
struct Told(Vec<Offer>);

impl Facts for Told {
    fn offers(&mut self) -> Vec<Offer> {
        self.0.clone()
    }

    fn power(&mut self) -> u64 {
        unreachable!("offers are all that is asked for")
    }

    fn load(&mut self) -> u128 {
        unreachable!("offers are all that is asked for")
    }

    fn free_time(&mut self) -> FreeTime {
        unreachable!("offers are all that is asked for")
    }

    fn queue(&mut self) -> Vec<QueueEntry> {
        unreachable!("offers are all that is asked for")
    }
}
