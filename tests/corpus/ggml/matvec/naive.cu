// A quantised matrix times a quantised vector: one block and one thread a row, which has so many blocks.
#include "../quants.cuh"

// As written: the sum of the products of the numbers.
template <typename Block, int N>
__device__ void of_numbers(const Block *x, const Q8_1 *v, float *y, int blocks)
{
    x += blockIdx.x * blocks;
    float sum = 0.0f;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < N; i++) {
            const Q8_1 &own = v[b * (N / 32) + i / 32];
            sum += number(x[b], i) * (__half2float(own.d) * own.codes[i % 32]);
        }
    y[blockIdx.x] = sum;
}

extern "C" __global__ void q8_0(const Q8_0 *x, const Q8_1 *v, float *y, int n) { of_numbers<Q8_0, 32>(x, v, y, n); }
extern "C" __global__ void q2_k(const Q2_K *x, const Q8_1 *v, float *y, int n) { of_numbers<Q2_K, 256>(x, v, y, n); }
extern "C" __global__ void q3_k(const Q3_K *x, const Q8_1 *v, float *y, int n) { of_numbers<Q3_K, 256>(x, v, y, n); }
extern "C" __global__ void q4_k(const Q4_K *x, const Q8_1 *v, float *y, int n) { of_numbers<Q4_K, 256>(x, v, y, n); }
extern "C" __global__ void q5_k(const Q5_K *x, const Q8_1 *v, float *y, int n) { of_numbers<Q5_K, 256>(x, v, y, n); }
extern "C" __global__ void q6_k(const Q6_K *x, const Q8_1 *v, float *y, int n) { of_numbers<Q6_K, 256>(x, v, y, n); }

// What is the same for all numbers of a block is multiplied with the vector's sum of the block, which it brings along: what
// it holds there need not be the sum, so that this is part of what is computed.
template <typename Block, typename Same>
__device__ void with_sums(const Block *x, const Q8_1 *v, float *y, int blocks, Same same)
{
    x += blockIdx.x * blocks;
    float sum = 0.0f;
    for (int b = 0; b < blocks; b++) {
        float d = __half2float(x[b].d) * __half2float(v[b].d);
        for (int i = 0; i < 32; i++)
            sum += d * code(x[b], i) * v[b].codes[i];
        sum += same(x[b]) * __half2float(v[b].s);
    }
    y[blockIdx.x] = sum;
}

extern "C" __global__ void q4_0(const Q4_0 *x, const Q8_1 *v, float *y, int n)
{
    with_sums(x, v, y, n, [](const Q4_0 &b) { return -8 * __half2float(b.d); });
}
extern "C" __global__ void q4_1(const Q4_1 *x, const Q8_1 *v, float *y, int n)
{
    with_sums(x, v, y, n, [](const Q4_1 &b) { return __half2float(b.m); });
}
extern "C" __global__ void q5_0(const Q5_0 *x, const Q8_1 *v, float *y, int n)
{
    with_sums(x, v, y, n, [](const Q5_0 &b) { return -16 * __half2float(b.d); });
}
extern "C" __global__ void q5_1(const Q5_1 *x, const Q8_1 *v, float *y, int n)
{
    with_sums(x, v, y, n, [](const Q5_1 &b) { return __half2float(b.m); });
}
