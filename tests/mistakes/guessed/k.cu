extern "C" __global__ void total(const float *x, float *y, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += x[i];
    }
    y[0] = sum;
}

extern "C" __global__ void first_times_n(const float *x, float *y, int n)
{
    y[0] = x[0] * n;
}

extern "C" __global__ void gather(const float *x, const int *at, float *y)
{
    int i = threadIdx.x;
    y[i] = x[at[i]];
}

extern "C" __global__ void gather_first(const float *x, const int *at, float *y)
{
    int i = threadIdx.x;
    y[i] = x[at[0]];
}

extern "C" __global__ void copy(const float *x, const int *at, float *y)
{
    int i = threadIdx.x;
    y[i] = x[i] + (at[i] < 0 ? 1.0f : 0.0f);
}

extern "C" __global__ void guarded(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i];
    }
}

extern "C" __global__ void unguarded(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
