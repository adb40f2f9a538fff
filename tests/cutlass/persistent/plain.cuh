// d = a * b^T + c
extern "C" __global__ void plain(const half *a, const half *b, const float *c, float *d, int columns, int depth)
{
    int row = blockIdx.x, column = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < depth; k++)
        sum += __half2float(a[row * depth + k]) * __half2float(b[column * depth + k]);
    d[row * columns + column] = sum + c[row * columns + column];
}
