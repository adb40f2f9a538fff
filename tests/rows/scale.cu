// What users compute at sizes at which the cost of verifying must grow as the work does: plain kernels, and what one
// makes of them. `tests/rows/scale.toml` has the sizes.

__device__ float warp_sum(float value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

// The sum of a block of 256 threads, in each of them.
__device__ float block_sum(float value, float *part)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    value = warp_sum(value);
    if (lane == 0)
        part[warp] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 8; i++)
        sum += part[i];
    __syncthreads();
    return sum;
}

// Adds a running sum of powers to another one; each is relative to the largest exponent that it has seen.
__device__ void add_powers(float &largest, float &sum, float other, float more)
{
    float larger = fmaxf(largest, other);
    sum = sum * __expf(largest - larger) + more * __expf(other - larger);
    largest = larger;
}

// The sum of 32 elements for each block: by one lane, and by a warp.
extern "C" __global__ void sums_lane(const float *x, float *y)
{
    if (threadIdx.x > 0)
        return;
    float sum = 0.0f;
    for (int i = 0; i < 32; i++)
        sum += x[blockIdx.x * 32 + i];
    y[blockIdx.x] = sum;
}

extern "C" __global__ void sums_warp(const float *x, float *y)
{
    float sum = warp_sum(x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}

// Each element by itself, and four at a time.
extern "C" __global__ void elements_one(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i] + 2.0f * x[i];
}

extern "C" __global__ void elements_four(const float4 *x, float4 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4)
        return;
    float4 v = x[i];
    y[i] = make_float4(v.x * (v.x + 2.0f), v.y * (v.y + 2.0f), v.z * (v.z + 2.0f), v.w * (v.w + 2.0f));
}

// A softmax by running sums of powers, one for each thread, merged in a tree.
extern "C" __global__ void softmax_running(const float *x, float *y, int n)
{
    __shared__ float exponents[256], sums[256];
    int tid = threadIdx.x;
    float largest = -INFINITY, sum = 0.0f;
    for (int i = tid; i < n; i += 256) {
        float larger = fmaxf(largest, x[i]);
        sum = sum * __expf(largest - larger) + __expf(x[i] - larger);
        largest = larger;
    }
    exponents[tid] = largest;
    sums[tid] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (tid < half)
            add_powers(exponents[tid], sums[tid], exponents[tid + half], sums[tid + half]);
        __syncthreads();
    }
    for (int i = tid; i < n; i += 256)
        y[i] = __expf(x[i] - exponents[0]) / sums[0];
}

// The cross entropy of a row whose label is its fourth element: by one thread, and by running sums.
extern "C" __global__ void entropy_thread(const float *x, float *y, int n)
{
    float largest = -INFINITY, sum = 0.0f;
    for (int i = 0; i < n; i++)
        largest = fmaxf(largest, x[i]);
    for (int i = 0; i < n; i++)
        sum += __expf(x[i] - largest);
    y[0] = __logf(sum) + largest - x[3];
}

extern "C" __global__ void entropy_running(const float *x, float *y, int n)
{
    __shared__ float exponents[256], sums[256];
    int tid = threadIdx.x;
    float largest = -INFINITY, sum = 0.0f;
    for (int i = tid; i < n; i += 256) {
        float larger = fmaxf(largest, x[i]);
        sum = sum * __expf(largest - larger) + __expf(x[i] - larger);
        largest = larger;
    }
    exponents[tid] = largest;
    sums[tid] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (tid < half)
            add_powers(exponents[tid], sums[tid], exponents[tid + half], sums[tid + half]);
        __syncthreads();
    }
    if (tid == 0)
        y[0] = __logf(sums[0]) + exponents[0] - x[3];
}

// A product of matrices by one thread, and by tiles in shared memory.
extern "C" __global__ void product_thread(const float *a, const float *b, float *c, int n)
{
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += a[row * n + k] * b[k * n + column];
            c[row * n + column] = sum;
        }
}

extern "C" __global__ void product_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += 16) {
        left[y][x] = a[row * n + first + x];
        right[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

#define WIDTH 16

// Attention, a query each thread: in two passes, and from a running maximum over tiles of keys.
extern "C" __global__ void attention_passes(const float *q, const float *k, const float *v, float *o, int keys)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = -INFINITY, sum = 0.0f, result[WIDTH] = {};
    for (int j = 0; j < keys; j++) {
        float score = 0.0f;
        for (int c = 0; c < WIDTH; c++)
            score += q[query * WIDTH + c] * k[j * WIDTH + c];
        largest = fmaxf(largest, score);
    }
    for (int j = 0; j < keys; j++) {
        float score = 0.0f;
        for (int c = 0; c < WIDTH; c++)
            score += q[query * WIDTH + c] * k[j * WIDTH + c];
        float weight = __expf(score - largest);
        sum += weight;
        for (int c = 0; c < WIDTH; c++)
            result[c] += weight * v[j * WIDTH + c];
    }
    for (int c = 0; c < WIDTH; c++)
        o[query * WIDTH + c] = result[c] / sum;
}

extern "C" __global__ void attention_tiles(const float *q, const float *k, const float *v, float *o, int keys)
{
    __shared__ float tile_k[16][WIDTH], tile_v[16][WIDTH];
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    float own[WIDTH], largest = -INFINITY, sum = 0.0f, result[WIDTH] = {};
    for (int c = 0; c < WIDTH; c++)
        own[c] = q[query * WIDTH + c];
    for (int first = 0; first < keys; first += 16) {
        for (int i = threadIdx.x; i < 16 * WIDTH; i += blockDim.x) {
            tile_k[i / WIDTH][i % WIDTH] = k[first * WIDTH + i];
            tile_v[i / WIDTH][i % WIDTH] = v[first * WIDTH + i];
        }
        __syncthreads();
        float scores[16], larger = largest;
        for (int j = 0; j < 16; j++) {
            scores[j] = 0.0f;
            for (int c = 0; c < WIDTH; c++)
                scores[j] += own[c] * tile_k[j][c];
            larger = fmaxf(larger, scores[j]);
        }
        float scale = __expf(largest - larger);
        sum *= scale;
        for (int c = 0; c < WIDTH; c++)
            result[c] *= scale;
        for (int j = 0; j < 16; j++) {
            float weight = __expf(scores[j] - larger);
            sum += weight;
            for (int c = 0; c < WIDTH; c++)
                result[c] += weight * tile_v[j][c];
        }
        largest = larger;
        __syncthreads();
    }
    for (int c = 0; c < WIDTH; c++)
        o[query * WIDTH + c] = result[c] / sum;
}

// A gated recurrence with the value after each step: one after the other, and by windows that double.
extern "C" __global__ void recurrence_thread(const float *a, const float *b, float *y, int n)
{
    float value = 0.0f;
    for (int i = 0; i < n; i++) {
        value = a[i] * value + b[i];
        y[i] = value;
    }
}

extern "C" __global__ void recurrence_windows(const float *a, const float *b, float *y)
{
    __shared__ float factors[1024], values[1024];
    int tid = threadIdx.x;
    factors[tid] = a[tid];
    values[tid] = b[tid];
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        float factor = tid >= step ? factors[tid - step] : 1.0f, before = tid >= step ? values[tid - step] : 0.0f;
        __syncthreads();
        values[tid] += factors[tid] * before;
        factors[tid] *= factor;
        __syncthreads();
    }
    y[tid] = values[tid];
}

// An average whose weights are inputs, only the last value of it: one step after the other, and in a tree.
extern "C" __global__ void average_thread(const float *x, const float *z, float *y, int n)
{
    float value = 0.0f;
    for (int i = 0; i < n; i++)
        value = (1.0f - z[i]) * value + z[i] * x[i];
    y[0] = value;
}

extern "C" __global__ void average_tree(const float *x, const float *z, float *y)
{
    __shared__ float factors[1024], values[1024];
    int tid = threadIdx.x;
    factors[tid] = 1.0f - z[tid];
    values[tid] = z[tid] * x[tid];
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (tid % (2 * step) == 0) {
            values[tid] = factors[tid + step] * values[tid] + values[tid + step];
            factors[tid] *= factors[tid + step];
        }
        __syncthreads();
    }
    if (tid == 0)
        y[0] = values[0];
}

// A row divided by its length: by one thread, and times the reciprocal root in a block.
extern "C" __global__ void length_thread(const float *x, float *y, int n)
{
    float squares = 0.0f;
    for (int i = 0; i < n; i++)
        squares += x[i] * x[i];
    for (int i = 0; i < n; i++)
        y[i] = x[i] / sqrtf(squares);
}

extern "C" __global__ void length_block(const float *x, float *y, int n)
{
    __shared__ float part[8];
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256)
        squares += x[i] * x[i];
    float scale = rsqrtf(block_sum(squares, part));
    for (int i = threadIdx.x; i < n; i += 256)
        y[i] = x[i] * scale;
}

// The gradient of layer normalisation by its row: around the mean, and from moments.
extern "C" __global__ void norm_gradient_passes(const float *x, const float *gain, const float *dout, float *dx, int n)
{
    __shared__ float part[8];
    float sum = 0.0f, squares = 0.0f, all = 0.0f, along = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256)
        sum += x[i];
    float mean = block_sum(sum, part) / n;
    for (int i = threadIdx.x; i < n; i += 256)
        squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(block_sum(squares, part) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += 256) {
        float change = dout[i] * gain[i];
        all += change;
        along += change * ((x[i] - mean) * scale);
    }
    all = block_sum(all, part) / n;
    along = block_sum(along, part) / n;
    for (int i = threadIdx.x; i < n; i += 256)
        dx[i] = scale * (dout[i] * gain[i] - all - (x[i] - mean) * scale * along);
}

extern "C" __global__ void norm_gradient_moments(const float *x, const float *gain, const float *dout, float *dx, int n)
{
    __shared__ float part[8];
    float sum = 0.0f, squares = 0.0f, all = 0.0f, along = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
        float change = dout[i] * gain[i];
        sum += x[i];
        squares += x[i] * x[i];
        all += change;
        along += change * x[i];
    }
    float mean = block_sum(sum, part) / n;
    float scale = rsqrtf(block_sum(squares, part) / n - mean * mean + 1e-5f);
    all = block_sum(all, part) / n;
    along = (block_sum(along, part) / n - mean * all) * scale;
    for (int i = threadIdx.x; i < n; i += 256)
        dx[i] = scale * (dout[i] * gain[i] - all - (x[i] - mean) * scale * along);
}
