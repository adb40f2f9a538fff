extern "C" __global__ void twice(const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = 2.0f * x[i] + 1.0f;
}

extern "C" __global__ void halves(const float *x, float *y)
{
    int i = threadIdx.x;
    float h = x[i] + 0.5f;
    y[i] = h + h;
}
