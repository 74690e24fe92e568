//! The examples of the library work as described.

#[expect(dead_code, reason = "only the command runs its `main`")]
#[path = "../examples/offers.rs"]
mod offers;
#[expect(dead_code, reason = "only the command runs its `main`")]
#[path = "../examples/own_rules.rs"]
pub(crate) mod own_rules;
#[expect(dead_code, reason = "only the command runs its `main`")]
#[path = "../examples/policies.rs"]
mod policies;

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).expect("text")
}

#[test]
fn policies_are_compared_without_a_file() {
    let mut out = Vec::new();
    policies::tell(&mut out).expect("it runs to its end");
    let expected = "\
fcfs: 120741 s ± 69957 s
easy: 13915 s ± 6980 s
conservative: 12402 s ± 4137 s
";
    assert_eq!(text(out), expected);
}

#[test]
fn offers_are_read_row_by_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut out = Vec::new();
    offers::tell(&mut out, &folder.path().join("run")).expect("it runs to its end");
    let expected = "\
north offers 2 tasks of bag 1 by 173368 s
east offers 2 tasks of bag 1 by 173368 s
west offers 2 tasks of bag 1 by 173368 s
north offers 8 tasks of bag 5 by 44590 s
east offers 8 tasks of bag 5 by 44590 s
the bags waited 1982 s in the mean
";
    assert_eq!(text(out), expected);
}
