// One thread a number, or one block and one thread a row.

extern "C" __global__ void silu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1.0f + expf(-x[i]));
}

// By the hyperbolic tangent.
extern "C" __global__ void gelu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float u = 0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
        y[i] = x[i] / (1.0f + expf(-2.0f * u));
    }
}

extern "C" __global__ void softcap(const float *x, float *y, float scale, float cap, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float e = expf(2.0f * scale * x[i]);
        y[i] = cap * (e - 1.0f) / (e + 1.0f);
    }
}

extern "C" __global__ void mean(const float *x, float *y, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += x[blockIdx.x * n + i];
    y[blockIdx.x] = sum / n;
}

// Of rows: minus the sum of label times log of softmax, by the number of rows.
extern "C" __global__ void cross_entropy(const float *x, const float *label, float *loss, int n, int rows)
{
    x += blockIdx.x * n;
    label += blockIdx.x * n;
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += expf(x[i]);
    float all = 0.0f;
    for (int i = 0; i < n; i++)
        all += label[i] * (x[i] - logf(sum));
    loss[blockIdx.x] = -all / rows;
}

// A step of Adam with decay of weights. Of what is given, by number: rate, two decays, epsilon, decay of weights, and the
// corrections of both moments.
extern "C" __global__ void adamw(float *x, const float *grad, float *first, float *second, const float *given, long long n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    first[i] = given[1] * first[i] + (1.0f - given[1]) * grad[i];
    second[i] = given[2] * second[i] + (1.0f - given[2]) * grad[i] * grad[i];
    float step = first[i] * given[5] / (sqrtf(second[i] * given[6]) + given[3]);
    x[i] -= given[0] * (step + given[4] * x[i]);
}

// A matrix of halves times a vector.
#include <cuda_fp16.h>
extern "C" __global__ void matvec_f16(const half *x, const float *v, float *y, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += __half2float(x[blockIdx.x * n + i]) * v[i];
    y[blockIdx.x] = sum;
}
