//! Keeps the level at which this crate is compiled, for those who run it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rustc-env=COMPILED_AT_LEVEL={level}");
}
