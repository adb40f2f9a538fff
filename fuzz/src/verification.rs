//! See `volta_suite::fuzz::verification`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| volta_suite::fuzz::verification(data));
