//! The language of claims over the data of studies.

use std::rc::Rc;

use haggle_script::{Evidence, Language, Mistake, Outcome};
use haggle_studies::Data;
use haggle_studies::quick::{CutAxis, Cuts};

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
            let held = match verdict.outcome {
                Outcome::Held => "held",
                Outcome::Missed => "missed",
                Outcome::Undecided => "undecided",
            };
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
fn an_empty_list_has_no_average() {
    let told = check("average([]) > 0");
    assert!(told.contains("an empty list has no average"), "{told}");
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
    // Any value that depends on replications is part of the evidence; a check that reads none of them has all.
    assert_eq!(evidence("lower_mean(value(\"wait\"), 2)"), Evidence::Part);
    assert_eq!(evidence("within(2 * mean(value(\"wait\")), 0, 3)"), Evidence::Part);
    assert_eq!(evidence("within(2, 0, 3)"), Evidence::All);
    // Where one is left, nothing can be said of how they differ, and that is no mistake of the claim.
    for text in
        ["at_least(half_width(value(\"wait\")), 0)", "less(value(\"wait\"), value(\"wait\"))"]
    {
        let (verdict, evidence) = language.check(text).expect("a sound check");
        assert_eq!(evidence, Evidence::Part, "{text}");
        assert!(verdict.text.starts_with("one replication has no spread"), "{}", verdict.text);
    }
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
fn values_are_bounded_in_depth_and_size() {
    let deep = [
        "let f = |x| x; for i in 0..100000 { let g = f; f = |x| g.call(x); } true",
        "let a = []; for i in 0..90000 { a = [a]; } true",
        "let a = []; for i in 0..90000 { let b = []; b.push(a); a = b; } true",
        "let m = #{}; for i in 0..90000 { m = #{m: m}; } true",
        "let a = []; for i in 0..20 { a.push(0); } a.reduce(|f, x| |y| f.call(y), |y| y); true",
        "let f = |x| x; f = |x| f.call(x); f.call(1) == 1",
    ];
    for text in deep {
        let said = check(text);
        assert!(said.contains("nested more than 16 deep"), "{text}: {said}");
    }
    for inner in ["1", "f"] {
        let large = format!("let f = |x| x; for i in 0..90000 {{ f = f.curry({inner}); }} true");
        let said = check(&large);
        assert!(
            ["a value is too large", "Too many operations"].iter().any(|it| said.contains(it)),
            "{said}"
        );
    }
    let many = "let a = []; for i in 0..9000 { a.push(i); } for i in 0..90000 { a[1]; } true";
    assert!(check(many).contains("Too many operations"), "{}", check(many));
    let sound = "let f = |x| x + 1; let g = |x| f.call(f.call(x)); [[1], [2]].map(|l| g.call(l[0])) == [3, 4]";
    assert_eq!(check(sound), "held: true");
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
    assert!(check(text).expect("both are there").0.outcome == Outcome::Held);
    let error = check("within(value(\"wait\"), 0, 1)").expect_err("which one?");
    assert_eq!(error.message, "say which sweep is meant, as in from(\"…\"): there is a, b");
}

/// Waits of 10.1 to 10.5 and 20.1 to 20.5, times 3: a slope of 60 in every replication.
#[test]
fn slopes_are_those_of_replications() {
    insta::assert_snapshot!(check("at_least(slope([0.5, 1], [0.5, 1].map(|l| wait(\"fcfs\", l))), 60)"), @"held: 60 ± 0 (n = 5), asked for at least 60");
}

/// The mean is 30.9, its standard error 0.21. Under each seed both loads differ by 30.
#[test]
fn what_lies_within_the_noise_is_undecided() {
    insta::assert_snapshot!(check("lower_mean(wait(\"fcfs\", 0.5), 31)"), @"undecided: 30.9 ± 0.589 against 31, difference -0.1 ± 0.589 (n = 5)");
    insta::assert_snapshot!(check("all([lower_mean(1, 2), at_least(wait(\"fcfs\", 0.5), 31)])"), @"undecided: 1 against 2; 30.9 ± 0.589 (n = 5), asked for at least 31 (within the noise)");
    insta::assert_snapshot!(check("falls([1, 0.5, 2].map(|f| f * wait(\"fcfs\", 1)))"), @"missed: 60.9 ± 0.589, 30.45 ± 0.2945, 121.8 ± 1.178 (n = 5)");
    insta::assert_snapshot!(check("rises([wait(\"fcfs\", 0.5), wait(\"fcfs\", 1)])"), @"held: 30.9 ± 0.589, 60.9 ± 0.589 (n = 5)");
    insta::assert_snapshot!(check("enough([lower_mean(1, 2), lower_mean(2, 1), at_least(wait(\"fcfs\", 0.5), 31)], 2)"), @"undecided: 1 of 3, 1 undecided");
}
