// A kernel of CUTLASS's templates for sm_90a: a product of f16 matrices that a producer warpgroup copies to shared memory 16
// bytes at a time (`cp.async`), and a warpgroup multiplies. CUTLASS has no proxy fence between the two; with FENCED there is
// one before each product.
#include <cuda_fp16.h>

#include <cute/tensor.hpp>
#include <cute/arch/mma_sm90_gmma.hpp>
#if FENCED
__device__ inline void fence_and_arrive()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cute::warpgroup_arrive();
}
#define warpgroup_arrive fence_and_arrive
#endif
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

using Half = cutlass::half_t;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;
using Part = cute::Shape<cute::_64, cute::_64, cute::_64>;
using Ctas = cute::Shape<cute::_1, cute::_1, cute::_1>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Part, Ctas, cutlass::epilogue::collective::EpilogueTileAuto, float,
    float, float, Rows, 4, float, Rows, 4, cutlass::epilogue::NoSmemWarpSpecialized>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Half, Rows, 8, Half, Columns, 8, float, Part, Ctas, cute::_3,
    cutlass::gemm::KernelCpAsyncWarpSpecialized>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;

template __global__ void cutlass::device_kernel<Kernel>(const __grid_constant__ Kernel::Params);

// The case says where the parameters lie and how much memory is shared.
static_assert(sizeof(Kernel::Params) == 168 && Kernel::SharedStorageSize == 49280);

// d = a * b^T
extern "C" __global__ void plain(const half *a, const half *b, float *d, int columns, int depth)
{
    int row = blockIdx.x, column = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < depth; k++)
        sum += __half2float(a[row * depth + k]) * __half2float(b[column * depth + k]);
    d[row * columns + column] = sum;
}
