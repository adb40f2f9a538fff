extern "C" __global__ void k(const float *x, const int *index, float *y)
{
    int t = threadIdx.x;
    y[t] = x[index[t]];
}
