// Rows that are looked up: one block for each, one thread for each of its numbers.
#include "../quants.cuh"

extern "C" __global__ void rows(const float *x, const int *index, float *y)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] = x[index[blockIdx.x] * blockDim.x + threadIdx.x];
}

// Of 64 numbers, which are two blocks.
template <typename Block>
__device__ void of_blocks(const Block *x, const int *index, float *y)
{
    int i = threadIdx.x;
    y[blockIdx.x * 64 + i] = number(x[index[blockIdx.x] * 2 + i / 32], i % 32);
}

extern "C" __global__ void q4_0(const Q4_0 *x, const int *index, float *y) { of_blocks(x, index, y); }
extern "C" __global__ void q5_1(const Q5_1 *x, const int *index, float *y) { of_blocks(x, index, y); }
extern "C" __global__ void q8_0(const Q8_0 *x, const int *index, float *y) { of_blocks(x, index, y); }
