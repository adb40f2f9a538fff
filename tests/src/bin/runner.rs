//! A test target with `harness = false`, whose fixtures a test provides: `CARGO_MANIFEST_DIR` says where they are.

volta_test::main!(fixtures = "fixtures");
