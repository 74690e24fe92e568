//! The language of checks: [rhai](https://rhai.rs) with additional words for runs and comparisons.
//!
//! | word | what it is |
//! |---|---|
//! | `value(metric)`, `value(metric, group)`, `value(metric, at)`, `value(metric, group, at)` | the sample of a metric at a point such as `#{policy: "fcfs", load: 0.9}` |
//! | `axis(name)` | the values of an axis, in order |
//! | `value(metric, group, at, base)` | effects on jobs relative to the point `base`: `"impact.impacted_percent"` and others; or a mean over the jobs that are in the group there, `"single-provider"` or `"multi-provider"`, or over the workflows that are done in both runs, `"done-in-both"` |
//! | `from(sweep)` | one of several sweeps or studies: `from("base").value(…)`, `from("base").axis(…)` |
//! | `+ - * /` | samples with samples, seed by seed, and with numbers |
//! | `abs(x)`, `mean(x)`, `sd(x)`, `half_width(x)`, `n(x)` | of a sample |
//! | `values(x)` | the values of a sample, a list |
//! | `max(list)`, `min(list)`, `spread(list)`, `average(list)` | of numbers or samples, by their means; `spread` is max - min |
//! | `quantile(list, share)` | of numbers or samples, by their means; the median at 0.5 |
//! | `slope(xs, ys)` | of a list of numbers and one of numbers or samples |
//! | `kendall_tau(xs, ys)`, `correlation(xs, ys)` | of two lists, by their means |
//! | `less`, `similar`, `within` and the other comparisons | see [`verdict`](super::verdict) |
//! | `at_least(x, low)`, `at_most(x, high)` | `within` with one end |
//! | `falls(list)`, `rises(list)` | of numbers or samples, in order |
//! | `all(list)`, `any(list)`, `enough(list, count)`, `not(verdict)` | of verdicts |
//! | `each(list, \|x\| verdict)` | all of them, each named by its x |
//! | `named(name, verdict)`, `check(truth, text)` | a verdict under a name; one of your own |
//!
//! Division of whole numbers gives a whole number: write `1.0 / 4`. Expressions are bounded in time and
//! size, and their values in depth. They can access only the runs.

mod nesting;
mod sources;
mod words;

use std::cell::Cell;
use std::rc::Rc;

use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{AST, Dynamic, Engine, EvalAltResult, Map, Position, Scope};

use super::quantity::{NO_SPREAD, Quantity};
use super::source::{Point, Source};
use super::verdict::Verdict;
use nesting::Effort;
use words::quantity;

/// A mistake in an expression, or missing data that it requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Description of the mistake.
    pub message: String,
    /// Line in the expression, from 1; 0 where it has no place.
    pub line: usize,
    /// Column in the expression, from 1; 0 where it has no place.
    pub column: usize,
    /// True if it requests data that a quick reproduction leaves out.
    pub cut: bool,
}

/// The language over some data.
pub struct Language {
    engine: Engine,
    functions: AST,
    /// Missing data that expressions have requested.
    gaps: Rc<Gaps>,
    effort: Effort,
}

/// Data left out by a quick reproduction that have been requested.
#[derive(Debug, Default)]
struct Gaps {
    /// True if a missing value was requested.
    cut: Cell<bool>,
    /// True if a value with fewer replications, or an incomplete axis, was requested.
    part: Cell<bool>,
}

/// Extent of the data on which a check is based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// All data that the study defines.
    All,
    /// Fewer replications, or fewer values of an axis.
    Part,
}

type Fallible<T> = Result<T, Box<EvalAltResult>>;

fn failed<T>(message: impl Into<String>) -> Fallible<T> {
    let message: String = message.into();
    Err(Box::new(EvalAltResult::ErrorRuntime(message.into(), Position::NONE)))
}

fn or_fail<T>(result: Result<T, String>) -> Fallible<T> {
    result.or_else(failed)
}

impl Language {
    /// The language over `sources`, with the shared functions of a study.
    ///
    /// # Errors
    /// If the functions cannot be parsed.
    pub fn new<S: Source + 'static>(
        sources: Vec<Rc<S>>,
        functions: &str,
    ) -> Result<Language, Mistake> {
        let mut engine = engine();
        let gaps = Rc::new(Gaps::default());
        let effort = Effort::default();
        nesting::bound(&mut engine, &effort);
        sources::register(&mut engine, sources, &gaps);
        words::register(&mut engine);
        let functions = engine.compile(functions).map_err(|error| parse_mistake(&error))?;
        // Statements outside of functions must not run with every check.
        Ok(Language { engine, functions: functions.clone_functions_only(), gaps, effort })
    }

    /// Checks that a check can be parsed, before anything is run.
    ///
    /// # Errors
    /// If it cannot be parsed: its first mistake.
    pub fn read_check(&self, text: &str) -> Result<(), Mistake> {
        self.compile(text, &Scope::new()).map(drop)
    }

    /// Checks that the expression of a drawn value can be parsed.
    ///
    /// # Errors
    /// If it cannot be parsed: its first mistake.
    pub fn read_value(&self, text: &str) -> Result<(), Mistake> {
        self.compile(text, &scope(&Point::new(), "", "")).map(drop)
    }

    /// The verdict of a check, and the extent of its data.
    ///
    /// # Errors
    /// If requested data are missing, or the result is no verdict.
    pub fn check(&self, text: &str) -> Result<(Verdict, Evidence), Mistake> {
        let result = match self.run(text, Scope::new()) {
            // The missing replications would have a spread, so this is not a mistake of the check.
            Err(Mistake { message, .. })
                if self.gaps.part.get() && message.starts_with(NO_SPREAD) =>
            {
                return Ok((Verdict::new(false, message), Evidence::Part));
            }
            result => result?,
        };
        let evidence = if self.gaps.part.get() { Evidence::Part } else { Evidence::All };
        if let Ok(held) = result.as_bool() {
            let text = if held { "true" } else { "false" }.to_owned();
            return Ok((Verdict::new(held, text), evidence));
        }
        let kind = result.type_name().to_owned();
        let verdict = result.try_cast::<Verdict>().ok_or_else(|| {
            Mistake::nowhere(format!("a check must end in a comparison, and this one is {kind}"))
        })?;
        Ok((verdict, evidence))
    }

    /// The result of a drawn value at a point: `at` is the point, `group` the group of jobs, `x` the
    /// text on the x axis.
    ///
    /// # Errors
    /// If requested data are missing, or the result is neither a number nor a sample.
    pub fn value(&self, text: &str, at: &Point, group: &str, x: &str) -> Result<Quantity, Mistake> {
        let result = self.run(text, scope(at, group, x))?;
        quantity(&result).map_err(Mistake::nowhere)
    }

    fn compile(&self, text: &str, scope: &Scope<'_>) -> Result<AST, Mistake> {
        let ast = self.engine.compile_with_scope(scope, text);
        ast.map_err(|error| parse_mistake(&error))
    }

    fn run(&self, text: &str, mut scope: Scope<'_>) -> Result<Dynamic, Mistake> {
        let ast = self.functions.merge(&self.compile(text, &scope)?);
        // Each expression reports its own gaps only.
        self.gaps.cut.set(false);
        self.gaps.part.set(false);
        self.effort.renew();
        self.engine
            .eval_ast_with_scope(&mut scope, &ast)
            .map_err(|error| Mistake { cut: self.gaps.cut.get(), ..run_mistake(*error) })
    }
}

/// The engine without the additional words. Scripts can compute, but cannot wait or access the system;
/// the language's own core package would let them sleep.
pub(crate) fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    let packages = [
        ArithmeticPackage::new().as_shared_module(),
        BasicStringPackage::new().as_shared_module(),
        BasicIteratorPackage::new().as_shared_module(),
        BasicFnPackage::new().as_shared_module(),
        LogicPackage::new().as_shared_module(),
        BasicMathPackage::new().as_shared_module(),
        BasicArrayPackage::new().as_shared_module(),
        BasicMapPackage::new().as_shared_module(),
        MoreStringPackage::new().as_shared_module(),
    ];
    for package in packages {
        engine.register_global_module(package);
    }
    engine.set_strict_variables(true);
    engine.disable_symbol("eval").disable_symbol("print").disable_symbol("debug");
    // Without this, debug builds would permit less depth than release builds.
    engine.set_max_expr_depths(128, 64);
    engine.set_max_operations(5_000_000).set_max_call_levels(32);
    // Texts are kept short, because the growth of a map is limited only by the number of operations.
    engine.set_max_array_size(10_000).set_max_map_size(500).set_max_string_size(1_000);
    engine
}

impl Mistake {
    pub(crate) fn nowhere(message: String) -> Mistake {
        Mistake { message, line: 0, column: 0, cut: false }
    }

    fn at(message: String, position: Position) -> Mistake {
        let (line, column) = (position.line(), position.position());
        Mistake {
            line: line.unwrap_or(0),
            column: column.unwrap_or(0),
            ..Mistake::nowhere(message)
        }
    }
}

pub(crate) fn parse_mistake(error: &rhai::ParseError) -> Mistake {
    Mistake::at(error.err_type().to_string(), error.position())
}

pub(crate) fn run_mistake(error: EvalAltResult) -> Mistake {
    let mut position = error.position();
    // If a function of the study fails, the position is that of its call in the check. Closures are
    // part of the check itself.
    let (mut inner, mut in_check) = (error, true);
    while let EvalAltResult::ErrorInFunctionCall(name, _, cause, _) = inner {
        in_check &= name.starts_with("anon$");
        if in_check && !cause.position().is_none() {
            position = cause.position();
        }
        inner = *cause;
    }
    let message = match &inner {
        EvalAltResult::ErrorRuntime(message, _) => message.to_string(),
        _ => {
            // The position is given separately.
            inner.clear_position();
            inner.to_string()
        }
    };
    Mistake::at(message, position)
}

fn scope(at: &Point, group: &str, x: &str) -> Scope<'static> {
    let at: Map = at.iter().map(|(axis, value)| (axis.into(), value.clone().into())).collect();
    let mut scope = Scope::new();
    scope.push_constant("at", at);
    scope.push_constant("group", group.to_owned());
    scope.push_constant("x", x.to_owned());
    scope
}
