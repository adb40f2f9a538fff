#include <cuda_fp16.h>

// A table of half precision that is one element short.
extern "C" __global__ void k(const __half *x, __half *y)
{
    int t = threadIdx.x;
    __half a = __ldg(x + t + 1);
    y[t] = __hadd(a, a);
}
