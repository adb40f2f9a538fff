//! See `attribute.rs`.

#![no_main]

#[path = "../../volta-macros/src/attribute.rs"]
mod attribute;
#[path = "../../volta-macros/src/body.rs"]
mod body;
#[path = "../../volta-macros/src/expand.rs"]
mod expand;
#[path = "../../volta-macros/src/family.rs"]
mod family;
#[path = "attribute.rs"]
mod input;
#[path = "../../volta-macros/src/graph.rs"]
mod graph;
#[path = "../../volta-macros/src/signature.rs"]
mod signature;
#[path = "../../volta-macros/src/steps.rs"]
mod steps;

libfuzzer_sys::fuzz_target!(|data: &[u8]| input::input(data));
