// The special functions whose expansions have shapes of their own.
#include <math.h>

__global__ void functions(const float* __restrict__ x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = expf(v) + logf(v) + powf(v, 1.5f) + sinf(v) + tanhf(v) + rsqrtf(v) + v / 3.0f;
    y[i + n] = __expf(v) + __logf(v) + fminf(fmaxf(v, 0.0f), 1.0f) + roundf(v);
}

__global__ void doubles(const double* x, double* y) {
    double v = x[threadIdx.x];
    y[threadIdx.x] = exp(v) * sqrt(v) / (v + 0.1);
}

__global__ void __launch_bounds__(256, 2) softmax(const float* x, float* y, int columns) {
    __shared__ float partial[8];
    const float* row = x + (size_t)blockIdx.x * columns;
    float best = -INFINITY;
    for (int c = threadIdx.x; c < columns; c += 256) best = fmaxf(best, row[c]);
    for (int step = 16; step > 0; step >>= 1) best = fmaxf(best, __shfl_xor_sync(~0u, best, step));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = best;
    __syncthreads();
    for (int w = 0; w < 8; w++) best = fmaxf(best, partial[w]);
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += 256) sum += expf(row[c] - best);
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(~0u, sum, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; w++) sum += partial[w];
    for (int c = threadIdx.x; c < columns; c += 256)
        y[(size_t)blockIdx.x * columns + c] = expf(row[c] - best) / sum;
}
