//! Conditions on rows of a table: one expression over the names of columns, which is true or false for
//! each row.
//!
//! A condition is a single expression without statements and functions, bounded in time and size. A
//! missing value of a column is `()`, which equals nothing else.

use rhai::{AST, Dynamic, Engine, Scope};

use crate::language::{Mistake, engine, parse_mistake, run_mistake};

/// Maximum number of steps for a row.
const STEPS: u64 = 10_000;

/// Value of a column in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Missing,
    /// A number.
    Real(f64),
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(&'a str),
}

/// A condition on rows.
pub struct Condition {
    engine: Engine,
    expression: AST,
    columns: Vec<&'static str>,
}

impl Condition {
    /// Reads a condition over columns of these names.
    ///
    /// # Errors
    /// If it cannot be parsed, or has a name that is no column.
    pub fn read(text: &str, columns: &[&'static str]) -> Result<Condition, Mistake> {
        let mut engine = engine();
        engine.set_max_operations(STEPS);
        let mut scope = Scope::new();
        // The engine refuses variables that are not declared.
        for &column in columns {
            scope.push(column, ());
        }
        let expression = engine.compile_expression_with_scope(&scope, text);
        let expression = expression.map_err(|error| parse_mistake(&error))?;
        // A name may also occur inside a text, which costs no more than an unused column.
        let is_part = |char: char| !(char.is_alphanumeric() || char == '_');
        let words = Vec::from_iter(text.split(is_part));
        let columns = columns.iter().copied().filter(|it| words.contains(it)).collect();
        Ok(Condition { engine, expression, columns })
    }

    /// The columns that it may use.
    pub fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    /// True if it holds for a row; `value` gives the values of its columns.
    ///
    /// # Errors
    /// If its result is neither true nor false, or it has no result.
    pub fn holds<'v>(&self, value: impl Fn(&'static str) -> Value<'v>) -> Result<bool, Mistake> {
        let mut scope = Scope::new();
        for &column in &self.columns {
            let value = match value(column) {
                Value::Missing => Dynamic::UNIT,
                Value::Real(number) => number.into(),
                Value::Integer(number) => number.into(),
                Value::Text(text) => text.to_owned().into(),
            };
            scope.push_dynamic(column, value);
        }
        let result = self.engine.eval_ast_with_scope::<Dynamic>(&mut scope, &self.expression);
        let result = result.map_err(|error| run_mistake(*error))?;
        result.as_bool().map_err(|_| {
            let what = match result.is_unit() {
                true => "nothing".to_owned(),
                false => format!("`{result}`"),
            };
            Mistake::nowhere(format!("it comes to {what}, and must come to true or false"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 3] = ["wait", "jobs", "name"];

    fn holds(text: &str) -> Result<bool, String> {
        let condition = Condition::read(text, &COLUMNS).map_err(|it| it.message)?;
        let value = |column| match column {
            "wait" => Value::Real(2.5),
            "jobs" => Value::Integer(3),
            _ => Value::Text("north"),
        };
        condition.holds(value).map_err(|it| it.message)
    }

    #[test]
    fn numbers_and_texts_are_compared() {
        assert_eq!(holds("jobs > 2 && wait < 3"), Ok(true));
        assert_eq!(holds("name == \"north\" || jobs == 0"), Ok(true));
        assert_eq!(holds("wait * jobs > 7.6"), Ok(false));
        assert_eq!(holds("name in [\"south\", \"west\"]"), Ok(false));
        assert_eq!(Condition::read("jobs > 1", &COLUMNS).map(|it| it.columns), Ok(vec!["jobs"]));
    }

    #[test]
    fn what_is_missing_equals_nothing() {
        let missing = |text| {
            let condition = Condition::read(text, &COLUMNS).expect("it can be read");
            condition.holds(|_| Value::Missing).expect("it comes to something")
        };
        assert!(missing("wait == ()") && !missing("wait > 0") && !missing("wait < 0"));
        assert!(missing("name != \"north\""));
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(holds("waits > 2"), Err("Undefined variable: waits".to_owned()));
        assert_eq!(
            holds("jobs"),
            Err("it comes to `3`, and must come to true or false".to_owned())
        );
        assert!(holds("jobs >").is_err() && holds("while true {}").is_err());
        assert!(holds("eval(\"true\")").is_err());
        assert!(holds("let x = 1; true").is_err(), "statements are none");
    }

    #[test]
    fn nothing_runs_for_ever() {
        for text in [
            "[1, 2, 3].map(|x| { loop { } }).len() == 3",
            "range(0, 1000000000).filter(|x| x > jobs).len() == 0",
            "(0..1000000000).contains(jobs) && jobs.to_string().len() > 0 && { while true {} true }",
        ] {
            assert!(holds(text).is_err(), "{text}");
        }
    }
}
