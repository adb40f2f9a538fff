use volta_test::prelude::*;

#[verify_kernel(kernel = "../../../tests/tests/kernels/boxes.ptx::boxes", block = 64, args(boxes_of_x, y))]
fn case(x: &[[f32; 16]; 16], y: &mut [f32; 64], #[tensor_map(of = x, boxes = [8, 8])] boxes_of_x: u64);

fn main() {}
