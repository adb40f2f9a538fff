// The numbers of quantised blocks: one block and one thread each.
#include "../quants.cuh"

template <typename Block>
__device__ void numbers(const Block *x, float *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = number(x[blockIdx.x], threadIdx.x);
}

extern "C" __global__ void q4_0(const Q4_0 *x, float *y) { numbers(x, y); }
extern "C" __global__ void q4_1(const Q4_1 *x, float *y) { numbers(x, y); }
extern "C" __global__ void q2_k(const Q2_K *x, float *y) { numbers(x, y); }
extern "C" __global__ void q3_k(const Q3_K *x, float *y) { numbers(x, y); }
extern "C" __global__ void q4_k(const Q4_K *x, float *y) { numbers(x, y); }
extern "C" __global__ void q5_k(const Q5_K *x, float *y) { numbers(x, y); }
extern "C" __global__ void q6_k(const Q6_K *x, float *y) { numbers(x, y); }
