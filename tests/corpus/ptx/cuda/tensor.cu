// Tensor cores, asynchronous copies, cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

__global__ void fragments(const half* a, const half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < 64; k += 16) {
        wmma::load_matrix_sync(fa, a + k, 64);
        wmma::load_matrix_sync(fb, b + k, 64);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void pipelined(const float4* in, float4* out, int n) {
    __shared__ float4 stages[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&stages[0][t], &in[t], 16);
    __pipeline_commit();
    for (int i = 1; i < n; i++) {
        __pipeline_memcpy_async(&stages[i & 1][t], &in[i * 128 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[(i - 1) * 128 + t] = stages[(i - 1) & 1][127 - t];
        __syncthreads();
    }
}

__global__ void multiply(const half* a, const half* b, float* c) {
    __shared__ __align__(16) half tile[16 * 16];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncwarp();
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x % 16 * 16));
    unsigned x0, x1, x2, x3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x0), "=r"(x1), "=r"(x2), "=r"(x3) : "r"(address) : "memory");
    const unsigned* y = reinterpret_cast<const unsigned*>(b);
    float d[4] = {0, 0, 0, 0};
    asm("{ .reg.b32  t; mov.b32 t, 0x3c00U; // one\n"
        "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8, t}, {%0,%1,%2,%3}; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(y[threadIdx.x]));
    for (int i = 0; i < 4; i++) c[threadIdx.x * 4 + i] = d[i];
}

__global__ void groups(const float* x, float* y, int* z) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
    float sum = cg::reduce(warp, x[block.thread_rank()], cg::plus<float>());
    int most = cg::reduce(eight, z[block.thread_rank()], cg::greater<int>());
    block.sync();
    y[block.thread_rank()] = sum + eight.shfl_down(sum, 2);
    z[block.thread_rank()] = most;
}
