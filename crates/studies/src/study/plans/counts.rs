//! Number of intervals or plans that planners examine (sections 4.1, 5 and 7.2.2).

use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::{Method, Problem, Table};

use super::{Compute, Effort, THRESHOLD, methods};
use crate::data::Data;

/// Numbers of phases, with those of most of the paper's applications.
const PHASES: [u32; 10] = [5, 10, 15, 18, 20, 22, 26, 30, 32, 50];
/// Brute force is run only for fewer plans than this.
const MOST_PLANS: u64 = 1 << 22;

/// Amount that each planner examines if all phases are equal. Every plan is valid then, and Division
/// sets one marker after the other, which is its worst case. For brute force, the number of plans is
/// given, too.
pub(in crate::study) struct PlanCounts;

impl Compute for PlanCounts {
    fn name(&self) -> &'static str {
        "plan-counts"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["phases", "method"]);
        let exact = [
            ("brute-force", Method::BruteForce),
            ("by-number", Method::OptimumByNumber),
            ("optimum", Method::Optimum),
        ];
        for phases in PHASES {
            let rows = [vec![THRESHOLD + Span::from_secs(60); phases as usize]];
            let table = Table::new(&rows).map_err(|error| error.to_string())?;
            let rescheduling = Span::from_secs(60);
            let problem = Problem { oracle: &table, first: 1, rescheduling, threshold: THRESHOLD };
            for (name, method) in exact.into_iter().chain(methods()) {
                let is_brute = name == "brute-force";
                // A plan may have a marker after each phase but the last.
                let plans = 1_u64 << (phases - 1);
                let mut values = vec![];
                if is_brute {
                    values.push(("plans", plans as f64));
                }
                if !is_brute || plans < MOST_PLANS {
                    let plan = method.plan(&problem, &mut stream(1, "cluster", "plans"));
                    values.push(("examined", plan.examined as f64));
                }
                data.push(&[&phases.to_string(), name], 1, &values);
            }
        }
        Ok(data)
    }
}
