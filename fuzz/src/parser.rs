//! See `volta_suite::fuzz::parser`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volta_suite::fuzz::parser(data));
