use volta_test::prelude::*;

/// One name for two kinds of structs.
#[verify_equiv(opt = "../../../tests/tests/kernels/fields.ptx::opt", block = 8)]
fn other_fields(
    #[fields(d: f16, q: [u8; 2])] x: &[Pair; 8],
    #[fields(d: f32)] y: &mut [Pair; 8],
) {
    y[0].d = x[0].d;
}

/// No such field.
#[verify_equiv(opt = "../../../tests/tests/kernels/fields.ptx::opt", block = 8)]
fn no_such_field(#[fields(d: f16, q: [u8; 2])] x: &[Pair; 8], y: &mut [f32; 8]) {
    y[0] = x[0].scale;
}

fn main() {}
