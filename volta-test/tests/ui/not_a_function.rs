use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/add.cu::add", block = 32)]
struct Case;

fn main() {}
