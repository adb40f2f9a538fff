// Half precision, through the inline assembly of its headers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void halves(const __half2* a, const __half2* b, __half2* c) {
    int i = threadIdx.x;
    __half2 v = __hfma2(a[i], b[i], h2exp(a[i]));
    if (__hgt(__low2half(v), __high2half(v))) v = __hmax2(v, b[i]);
    c[i] = __hadd2(v, __shfl_xor_sync(~0u, v, 8, 16));
    c[i + 32] = __h2div(a[i], b[i]);
}

__global__ void brains(const __nv_bfloat162* a, const float* f, __nv_bfloat162* c, __nv_bfloat16* d) {
    int i = threadIdx.x;
    c[i] = __hmul2(a[i], __floats2bfloat162_rn(f[2 * i], f[2 * i + 1]));
    d[i] = __float2bfloat16(__bfloat162float(d[i]) + 1.0f) * hexp(d[i + 32]);
}
