use volta_test::prelude::*;

#[verify_equiv(reference = spec(softmax), opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn no_name(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(reference = spec("softmax", 1), opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn no_key(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(reference = spec("softmax", dim = 0, dim = 1), opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn twice(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(reference = formula(y), opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn no_text(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(reference = graph(softmax), opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn no_file(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(reference = nodes("relu"), opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn of_nodes(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(reference = spec("softmax", dim = 0), ref_block = 32, opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn block_of_a_graph(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_equiv(reference = [fill(y, 0)], opt = "../../../tests/tests/kernels/add.cu::add", block = 32)]
fn only_a_fill(x: &[f32; 32], y: &mut [f32; 32]);

#[verify_kernel(kernel = relu(x), block = 32)]
fn no_step(x: &[f32; 32], y: &mut [f32; 32]);

fn main() {}
