// Rotary embeddings of rows of 64 numbers: of rows at positions and heads, pair i is turned by the position times the i-th
// power of a base. One block a row, with heads in x and positions in y, and one thread a pair.

__device__ void turn(const float *x, float *y, int first, int second, float angle, float size)
{
    float a = x[first], b = x[second];
    y[first] = (a * cosf(angle) - b * sinf(angle)) * size;
    y[second] = (a * sinf(angle) + b * cosf(angle)) * size;
}

__device__ float angle_of(const int *position, float base)
{
    float angle = position[blockIdx.y];
    for (int i = 0; i < threadIdx.x; i++)
        angle *= base;
    return angle;
}

// Pairs of neighbours.
extern "C" __global__ void rope(const float *x, float *y, const int *position, float scale, float size, float base)
{
    int row = blockIdx.y * gridDim.x + blockIdx.x, i = threadIdx.x;
    turn(x + row * 64, y + row * 64, 2 * i, 2 * i + 1, angle_of(position, base) * scale, size);
}

// Pairs of the two halves, each with a factor that divides its angle.
extern "C" __global__ void rope_halves(const float *x, float *y, const int *position, const float *factors, float scale,
                                       float size, float base)
{
    int row = blockIdx.y * gridDim.x + blockIdx.x, i = threadIdx.x;
    turn(x + row * 64, y + row * 64, i, i + 32, angle_of(position, base) / factors[i] * scale, size);
}
