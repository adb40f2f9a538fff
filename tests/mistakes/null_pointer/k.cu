extern "C" __global__ void k(const float *x, const float *bias, float *y)
{
    int t = threadIdx.x;
    y[t] = x[t] + bias[t];
}
