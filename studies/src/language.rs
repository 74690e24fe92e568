//! The language of checks: [rhai](https://rhai.rs) with words of ours for runs and comparisons.
//!
//! | word | what it is |
//! |---|---|
//! | `value(metric)`, `value(metric, group)`, `value(metric, at)`, `value(metric, group, at)` | the sample of a metric at a point such as `#{policy: "fcfs", load: 0.9}` |
//! | `axis(name)` | the values of an axis, in order |
//! | `value(metric, group, at, base)` | what became of jobs relative to the point `base`: `"impact.impacted_percent"` and others; or a mean over the jobs that are in the group there: `"single-provider"` or `"multi-provider"` |
//! | `from(sweep)` | one of several sweeps or studies: `from("base").value(…)`, `from("base").axis(…)` |
//! | `+ - * /` | samples with samples, seed by seed, and with numbers |
//! | `abs(x)`, `mean(x)`, `sd(x)`, `half_width(x)`, `n(x)` | of a sample |
//! | `values(x)` | the values of a sample, a list |
//! | `max(list)`, `min(list)`, `spread(list)`, `average(list)` | of numbers or samples, by their means; `spread` is max - min |
//! | `quantile(list, share)` | of numbers or samples, by their means; the median at 0.5 |
//! | `kendall_tau(xs, ys)`, `correlation(xs, ys)`, `slope(xs, ys)` | of two lists, by their means |
//! | `less`, `similar`, `within` and the other comparisons | see [`verdict`](super::verdict) |
//! | `at_least(x, low)`, `at_most(x, high)` | `within` with one end |
//! | `all(list)`, `any(list)`, `not(verdict)` | of verdicts |
//! | `each(list, \|x\| verdict)` | all of them, each named by its x |
//! | `named(name, verdict)`, `check(truth, text)` | a verdict under a name; one of your own |
//!
//! Whole numbers divide as such: write `1.0 / 4`. Expressions are bounded in time and size and
//! reach nothing but the runs.

mod sources;
mod words;

use std::cell::Cell;
use std::rc::Rc;

use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{AST, Dynamic, Engine, EvalAltResult, Map, Position, Scope};

use super::data::{Data, Point};
use super::quantity::Quantity;
use super::verdict::Verdict;
use words::quantity;

/// A mistake in an expression, or something that it asks for and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// Line in the expression, from 1; 0 where it has no place.
    pub line: usize,
    /// Column in the expression, from 1; 0 where it has no place.
    pub column: usize,
    /// Whether it asks for what a quick reproduction leaves out.
    pub cut: bool,
}

/// The language over some data.
pub struct Language {
    engine: Engine,
    functions: AST,
    /// What was left out of what is asked for, noted when it happens.
    gaps: Rc<Gaps>,
}

/// Whether something that was left out to be quick has been asked for.
#[derive(Debug, Default)]
struct Gaps {
    /// A value that is not there.
    cut: Cell<bool>,
    /// Values of which there are fewer than the study asks for.
    part: Cell<bool>,
}

/// What a check has looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// All that the study asks for.
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
    /// The language over `sources`, with the functions that a study shares.
    ///
    /// # Errors
    /// If the functions are no functions.
    pub fn new(sources: Vec<Rc<Data>>, functions: &str) -> Result<Language, Mistake> {
        let mut engine = engine();
        let gaps = Rc::new(Gaps::default());
        sources::register(&mut engine, sources, &gaps);
        words::register(&mut engine);
        let functions = engine.compile(functions).map_err(|error| parse_mistake(&error))?;
        Ok(Language { engine, functions: functions.clone_functions_only(), gaps })
    }

    /// Whether a check can be read; asked before anything is run.
    ///
    /// # Errors
    /// Its first mistake.
    pub fn read_check(&self, text: &str) -> Result<(), Mistake> {
        self.compile(text, &Scope::new()).map(drop)
    }

    /// The same for a value that is drawn.
    ///
    /// # Errors
    /// Its first mistake.
    pub fn read_value(&self, text: &str) -> Result<(), Mistake> {
        self.compile(text, &scope(&Point::new(), "", "")).map(drop)
    }

    /// What a check comes to, and on what evidence.
    ///
    /// # Errors
    /// If something it asks for is not there, or it comes to no verdict.
    pub fn check(&self, text: &str) -> Result<(Verdict, Evidence), Mistake> {
        let result = self.run(text, Scope::new())?;
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

    /// What a value that is drawn comes to at a point: `at` is the point, `group` the group of
    /// jobs, `x` the text on the x axis.
    ///
    /// # Errors
    /// If something it asks for is not there, or it is neither number nor sample.
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
        self.gaps.cut.set(false);
        self.gaps.part.set(false);
        self.engine
            .eval_ast_with_scope(&mut scope, &ast)
            .map_err(|error| Mistake { cut: self.gaps.cut.get(), ..run_mistake(*error) })
    }
}

/// What a script can do without words of ours: compute, and nothing that takes time or reaches
/// out. The language's own core would let it sleep.
fn engine() -> Engine {
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
    // Debug builds would allow less than release builds otherwise.
    engine.set_max_expr_depths(128, 64);
    engine.set_max_operations(5_000_000).set_max_call_levels(32);
    // Texts are short, for a map that grows entry by entry is bounded by the operations alone.
    engine.set_max_array_size(10_000).set_max_map_size(500).set_max_string_size(1_000);
    engine
}

impl Mistake {
    fn nowhere(message: String) -> Mistake {
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

fn parse_mistake(error: &rhai::ParseError) -> Mistake {
    Mistake::at(error.err_type().to_string(), error.position())
}

fn run_mistake(error: EvalAltResult) -> Mistake {
    let mut position = error.position();
    // Where a function of the study fails, the place is that of its call in the check; closures
    // stand in the check itself.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick::{CutAxis, Cuts};

    fn language() -> Language {
        let mut data = Data::table("base", &["policy", "load"]);
        for (policy, factor) in [("fcfs", 3.0), ("easy", 2.0), ("slots", 2.1)] {
            for (load, wait) in [("0.5", 10.0), ("1", 20.0)] {
                for seed in 1..=5 {
                    let wait = factor * (wait + seed as f64 * 0.1);
                    data.push(&[policy, load], seed, &[("wait", wait), ("jobs", 7.0)]);
                }
            }
        }
        data.cuts = Cuts {
            replications: None,
            axes: vec![CutAxis { name: "load".to_owned(), left: 2, cut: vec!["2".to_owned()] }],
        };
        let functions = "fn wait(p, l) { value(\"wait\", #{policy: p, load: l}) }";
        Language::new(vec![Rc::new(data)], functions).expect("the functions are sound")
    }

    fn check(text: &str) -> String {
        match language().check(text) {
            Ok((verdict, evidence)) => {
                let part = if evidence == Evidence::Part { " (part)" } else { "" };
                let held = if verdict.held { "held" } else { "missed" };
                format!("{held}: {}{part}", verdict.text)
            }
            Err(mistake) => {
                let Mistake { message, line, column, cut } = mistake;
                format!("{line}:{column}: {message}{}", if cut { " (cut)" } else { "" })
            }
        }
    }

    #[test]
    fn samples_are_compared() {
        let easy = "value(\"wait\", #{policy: \"easy\", load: 0.5})";
        let fcfs = "value(\"wait\", #{policy: \"fcfs\", load: 0.5})";
        insta::assert_snapshot!(check(&format!("less({easy}, {fcfs})")), @"held: 20.6 ± 0.3926 against 30.9 ± 0.589, difference -10.3 ± 0.1963 (n = 5)");
        insta::assert_snapshot!(check(&format!("similar({easy}, wait(\"slots\", 0.5))")), @"held: 20.6 ± 0.3926 against 21.63 ± 0.4123 (n = 5), -4.8 %");
        insta::assert_snapshot!(check(&format!("close(mean({easy} / {fcfs}), 0.667, 0.001)")), @"held: 0.6667, asked for 0.667 within 0.001");
        insta::assert_snapshot!(check(&format!("within(100 * (1 - {easy} / {fcfs}), 40, 50)")), @"missed: 33.33 ± 0 (n = 5), asked for 40 to 50");
        insta::assert_snapshot!(check(&format!("at_least({fcfs}, {easy})")), @"held: 30.9 ± 0.589 (n = 5), asked for at least 20.6");
        insta::assert_snapshot!(check("value(\"jobs\", #{policy: \"easy\", load: 1}).n() == 5"), @"held: true");
    }

    #[test]
    fn lists_are_walked_through() {
        insta::assert_snapshot!(check("each(axis(\"load\"), |l| less(wait(\"easy\", l), wait(\"fcfs\", l)))"), @"held: 0.5: 20.6 ± 0.3926 against 30.9 ± 0.589, difference -10.3 ± 0.1963 (n = 5); 1: 40.6 ± 0.3926 against 60.9 ± 0.589, difference -20.3 ± 0.1963 (n = 5) (part)");
        insta::assert_snapshot!(check("let p = \"slots\"; each([0.5, 1], |l| similar(wait(p, l), wait(\"easy\", l), 1))"), @"held: 0.5: 21.63 ± 0.4123 against 20.6 ± 0.3926 (n = 5), +5.0 %; 1: 42.63 ± 0.4123 against 40.6 ± 0.3926 (n = 5), +5.0 %");
        insta::assert_snapshot!(check("within(kendall_tau(axis(\"load\"), axis(\"load\").map(|l| wait(\"easy\", l))), 1, 1)"), @"held: 1, asked for 1 to 1 (part)");
        insta::assert_snapshot!(check("within(slope([0, 1, 2], [1, 3, 5]), 2, 2)"), @"held: 2, asked for 2 to 2");
        insta::assert_snapshot!(check("within(correlation([0, 1, 2], [1, 2, 2]), 0.86, 0.87)"), @"held: 0.866, asked for 0.86 to 0.87");
        insta::assert_snapshot!(check("within(spread(axis(\"policy\").map(|p| wait(p, 1))), 20, 21)"), @"held: 20.3 ± 0.1963 (n = 5), asked for 20 to 21");
        insta::assert_snapshot!(check("close(quantile(values(wait(\"fcfs\", 0.5)), 0.5) + quantile([1, 2, 4], 0.75), 33.9, 1e-9)"), @"held: 33.9, asked for 33.9 within 1.000e-9");
        insta::assert_snapshot!(check("close(max([1, 2.5, 2]) + min([4, 3]) + average([1, 2]), 7, 0)"), @"held: 7, asked for 7 within 0");
        insta::assert_snapshot!(check("any([not(less(1, 2)), named(\"second\", check(true, \"so\"))])"), @"held: 1 against 2 (not so); second: so");
    }

    #[test]
    fn few_replications_are_part_of_the_evidence() {
        let mut data = Data::table("base", &[]);
        data.push(&[], 1, &[("wait", 1.0)]);
        data.cuts.replications = Some((1, 5));
        let language = Language::new(vec![Rc::new(data)], "").expect("no functions");
        let evidence = |text: &str| language.check(text).expect("a sound check").1;
        // Whatever is made of them; and what asks for none of them has all.
        assert_eq!(evidence("lower_mean(value(\"wait\"), 2)"), Evidence::Part);
        assert_eq!(evidence("within(2 * mean(value(\"wait\")), 0, 3)"), Evidence::Part);
        assert_eq!(evidence("within(2, 0, 3)"), Evidence::All);
    }

    #[test]
    fn mistakes_have_a_place() {
        insta::assert_snapshot!(check("less(1,\n  2"), @"2:4: Expecting ')' to close the arguments list of this function call 'less'");
        insta::assert_snapshot!(check("less(1, two)"), @"1:9: Undefined variable: two");
        insta::assert_snapshot!(check("less(1,\n  wait(\"fifo\", 1))"), @"2:3: base has no policy = fifo: there is fcfs, easy, slots");
        insta::assert_snapshot!(check("less(1, \"two\")"), @"1:1: expected a number or a sample, not string");
        insta::assert_snapshot!(check("lesser(1, 2)"), @"1:1: Function not found: lesser (i64, i64)");
        insta::assert_snapshot!(check("1 + 1"), @"0:0: a check must end in a comparison, and this one is i64");
        insta::assert_snapshot!(check("wait(\"fcfs\", 2)"), @"1:1: it needs load = 2, which --quick leaves out (cut)");
        insta::assert_snapshot!(check("each([2], |l| less(wait(\"fcfs\", l), 1))"), @"1:20: it needs load = 2, which --quick leaves out (cut)");
        insta::assert_snapshot!(check("from(\"other\").value(\"wait\")"), @r#"1:1: there is no sweep "other" here: there is base"#);
        insta::assert_snapshot!(check("loop { }"), @"1:6: Too many operations");
        insta::assert_snapshot!(check("sleep(1); less(1, 2)"), @"1:1: Function not found: sleep (i64)");
        insta::assert_snapshot!(check("sleep(1e300); less(1, 2)"), @"1:1: Function not found: sleep (f64)");
        assert!(check("let s = \"x\"; loop { s += s; }").contains("too large"));
        assert!(check("let a = []; loop { a.push([1]); }").contains("too large"));
        insta::assert_snapshot!(check("eval(\"1\")"), @"1:1: reserved keyword 'eval' is disabled");
        insta::assert_snapshot!(check("import \"x\" as x; x::y()"), @"1:1: 'import' is a reserved keyword");
        insta::assert_snapshot!(check("kendall_tau([1], [1])"), @"1:1: kendall_tau needs two lists of one length, in which values differ");
    }

    #[test]
    fn values_know_where_they_are() {
        let at = [("load".to_owned(), "1".to_owned())].into();
        let text = "100 * value(\"wait\", at + #{policy: \"easy\"}) / wait(\"fcfs\", x)";
        let value = language().value(text, &at, "", "1").expect("it is there");
        assert!((value.mean() - 66.667).abs() < 0.001, "{value:?}");
        assert!(language().value("\"text\"", &at, "", "1").is_err());
    }

    #[test]
    fn several_sources_are_told_apart() {
        let one = |name: &str, wait: f64| {
            let mut data = Data::table(name, &[]);
            data.push(&[], 1, &[("wait", wait)]);
            Rc::new(data)
        };
        let language = Language::new(vec![one("a", 1.0), one("b", 2.0)], "").expect("no functions");
        let check = |text: &str| language.check(text);
        let text = "lower_mean(from(\"a\").value(\"wait\"), from(\"b\").value(\"wait\"))";
        assert!(check(text).expect("both are there").0.held);
        let error = check("within(value(\"wait\"), 0, 1)").expect_err("which one?");
        assert_eq!(error.message, "say which sweep is meant, as in from(\"…\"): there is a, b");
    }
}
