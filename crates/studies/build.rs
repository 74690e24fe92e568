//! The scenarios are part of the program: a file that is added or removed makes it anew.

fn main() {
    println!("cargo:rerun-if-changed=../../scenarios");
}
