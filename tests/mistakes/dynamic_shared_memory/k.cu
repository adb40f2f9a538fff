extern __shared__ float row[];

extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    row[t] = x[t];
    __syncthreads();
    y[t] = row[63 - t];
}
