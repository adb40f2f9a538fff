//! See `volta_suite::fuzz::lowering`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volta_suite::fuzz::lowering(data));
