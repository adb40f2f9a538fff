// Kernels of CUTLASS's templates for sm_100a: a product of f16 matrices plus a matrix, through tensor memory, by single CTAs
// or by pairs, which take one tile after the other.
#include <cuda_fp16.h>

#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>

#include "plain.cuh"

using Half = cutlass::half_t;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;
using Part = cute::Shape<cute::Int<128 * PAIR>, cute::_64, cute::_64>;
using Ctas = cute::Shape<cute::Int<PAIR>, cute::_1, cute::_1>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, Part, Ctas, cutlass::epilogue::collective::EpilogueTileAuto, float,
    float, float, Rows, 4, float, Rows, 4, cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, Half, Rows, 8, Half, Columns, 8, float, Part, Ctas, cute::_3,
    cute::conditional_t<PAIR == 1, cutlass::gemm::KernelTmaWarpSpecialized1SmSm100,
                        cutlass::gemm::KernelTmaWarpSpecialized2SmSm100>>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue,
                                                    cutlass::gemm::StaticPersistentScheduler>;

template __global__ void cutlass::device_kernel<Kernel>(const __grid_constant__ Kernel::Params);

// The case says where the parameters lie and how much memory is shared.
static_assert(sizeof(Kernel::Params) == 2176);
static_assert(Kernel::SharedStorageSize == (PAIR == 1 ? 107520 : 95232));
