extern "C" __global__ void k(const float *x, float *y, float scale, int n)
{
    int i = threadIdx.x;
    if (i < n)
        y[i] = scale * x[i];
}
