//! See `volta_suite::fuzz::manifest`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volta_suite::fuzz::manifest(data));
