#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void k(const half *a, const half *b, float *c)
{
    __shared__ half skewed[16 * 17];
    for (int i = threadIdx.x; i < 256; i += 32)
        skewed[i / 16 * 17 + i % 16] = a[i];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, skewed, 17);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
