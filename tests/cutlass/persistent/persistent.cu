// Kernels of CUTLASS's templates for sm_90a whose CTAs take one tile after the other, as its scheduler says: a product of
// f16 matrices plus a matrix, with a producer warp and two warpgroups that share a tile or take turns.
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
using Part = cute::Shape<cute::Int<COOPERATIVE ? 128 : 64>, cute::_64, cute::_64>;
using Ctas = cute::Shape<cute::_1, cute::_1, cute::_1>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Part, Ctas, cutlass::epilogue::collective::EpilogueTileAuto, float,
    float, float, Rows, 4, float, Rows, 4,
    cute::conditional_t<COOPERATIVE, cutlass::epilogue::TmaWarpSpecializedCooperative,
                        cutlass::epilogue::TmaWarpSpecialized>>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Half, Rows, 8, Half, Columns, 8, float, Part, Ctas, cute::_3,
    cute::conditional_t<COOPERATIVE, cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                        cutlass::gemm::KernelTmaWarpSpecializedPingpong>>::CollectiveOp;
// CTAs take whole tiles, or as many steps of the depth each, and add parts of a tile in turns.
using Scheduler = cute::conditional_t<STREAM_K, cutlass::gemm::StreamKScheduler, cutlass::gemm::PersistentScheduler>;
using Kernel =
    cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>;

template __global__ void cutlass::device_kernel<Kernel>(const __grid_constant__ Kernel::Params);

// The case says where the parameters lie and how much memory is shared.
static_assert(sizeof(Kernel::Params) == (STREAM_K ? 1920 : 1792));
static_assert(Kernel::SharedStorageSize == (COOPERATIVE ? 124928 : 75776));
