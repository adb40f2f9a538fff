#define THREADS 64

// Only the first half of the row is staged, and all of it is summed.
extern "C" __global__ void k(const float *x, float *y)
{
    __shared__ float row[THREADS];
    int t = threadIdx.x;
    if (t < THREADS / 2)
        row[t] = x[t];
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < THREADS; i++)
        sum += row[i];
    y[t] = sum;
}
