// A product in half precision whose depth is split over blocks, which add in turns by CUTLASS's semaphore.

#include <cutlass/gemm/device/gemm.h>
#include <cutlass/epilogue/thread/linear_combination.h>

using Half = cutlass::half_t;
using Gemm = cutlass::gemm::device::Gemm<
    Half, cutlass::layout::RowMajor, Half, cutlass::layout::ColumnMajor, float, cutlass::layout::RowMajor, float,
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, cutlass::gemm::GemmShape<64, 64, 32>,
    cutlass::gemm::GemmShape<32, 32, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, 8, 8, true>;

template __global__ void cutlass::Kernel<Gemm::GemmKernel>(Gemm::GemmKernel::Params);

extern "C" __global__ void plain(const __half *a, const __half *b, float *d, int n, int k)
{
    int row = blockIdx.x, column = threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int i = 0; i < k; i++)
        sum += __half2float(a[row * k + i]) * __half2float(b[column * k + i]);
    d[row * n + column] = sum;
}
