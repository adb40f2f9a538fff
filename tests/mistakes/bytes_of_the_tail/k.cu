// Rows of 64 floats come two at a time, and are added up.
constexpr int ROW = 64;

__device__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void wait(unsigned long long *barrier, unsigned parity) {
    unsigned at = shared_address(barrier);
    asm volatile(
        "{ .reg .pred over;\n"
        "again%=:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
        "@!over bra again%=; }" ::"r"(at), "r"(parity) : "memory");
}

__device__ void expect(unsigned long long *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

__device__ void fetch(float *row, const float *from, unsigned long long *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(row)),
                 "l"(from), "n"(ROW * 4), "r"(shared_address(barrier))
                 : "memory");
}

extern "C" __global__ void k(const float *x, float *y, int rows) {
    __shared__ alignas(128) float pair[2][ROW];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)) : "memory");
    }
    __syncthreads();
    float sum = 0.0f;
    for (int row = 0; row < rows; row += 2) {
        if (threadIdx.x == 0) {
            expect(&full, 2 * ROW * 4);
            for (int next = 0; next < 2 && row + next < rows; next++) {
                fetch(pair[next], x + (row + next) * ROW, &full);
            }
        }
        wait(&full, row / 2 & 1);
        sum += pair[0][threadIdx.x];
        if (row + 1 < rows) {
            sum += pair[1][threadIdx.x];
        }
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}
