#define N 8

extern "C" __global__ void plain(const float *x, float *y)
{
    float mean = 0.0f;
    for (int i = 0; i < N; i++)
        mean += x[i];
    mean /= N;
    float v = 0.0f;
    for (int i = 0; i < N; i++)
        v += (x[i] - mean) * (x[i] - mean);
    int t = threadIdx.x;
    float z = (x[t] - mean) * rsqrtf(v + 1.0f);
    y[t] = x[t] * __sinf(3.0f * z);
}

extern "C" __global__ void fast(const float *x, float *y)
{
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < N; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    float mean = sum / N, v = squares - N * mean * mean;
    int t = threadIdx.x;
    float z = (x[t] - mean) * rsqrtf(v + 1.0f);
    float s = __sinf(z);
    y[t] = x[t] * (s * (3.0f - 4.0f * s * s));
}
