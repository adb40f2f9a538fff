// Clusters, bulk copies and warp group multiplication, as inline assembly writes them.
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;
struct alignas(128) TensorMap { uint64_t opaque[16]; };

__global__ void __cluster_dims__(2, 1, 1) bulk(const __grid_constant__ TensorMap map, float* out) {
    __shared__ __align__(1024) float tile[64 * 32];
    __shared__ __align__(8) uint64_t full;
    uint32_t bar = static_cast<uint32_t>(__cvta_generic_to_shared(&full));
    uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(bar), "r"(1));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(8192) : "memory");
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
            " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(&map), "r"(0), "r"(blockIdx.x * 32), "r"(bar),
            "l"(0x14F0000000000000ull) : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(bar), "r"(0));
    cg::cluster_group cluster = cg::this_cluster();
    float* other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    cluster.sync();
    out[threadIdx.x] = other[threadIdx.x];
    uint32_t elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xFFFFFFFF; selp.b32 %0, 1, 0, p; }" : "=r"(elected));
    if (elected) {
        asm volatile("fence.proxy.async.shared::cta;\n"
                     "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
                     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::"l"(&map), "r"(0), "r"(0), "r"(to));
    }
    cluster.sync();
}

__global__ void warp_group(float* out, uint64_t a, uint64_t b) {
    float d[4] = {0, 0, 0, 0};
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,  %1,  %2,  %3}, %4, %5, p, 1, -1, 0, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(1));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}
