#define N 16

extern "C" __global__ void plain(const float *x, float *y)
{
    float v = 0.0f;
    for (int i = 0; i < N; i++)
        v += x[i] * x[i];
    int t = threadIdx.x;
    y[t] = x[t] * rsqrtf(v / N + 1e-5f);
}

extern "C" __global__ void fast(const float *x, float *y)
{
    __shared__ float parts[N];
    int t = threadIdx.x;
    parts[t] = x[t] * x[t];
    for (int step = N / 2; step > 0; step /= 2) {
        __syncthreads();
        if (t < step)
            parts[t] += parts[t + step];
    }
    __syncthreads();
    y[t] = x[t] * rsqrtf(parts[0] / N + 1e-6f);
}
