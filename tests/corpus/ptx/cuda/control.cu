// Control flow, calls, memory of every kind.
#include <assert.h>
#include <stdio.h>

struct Shape {
    int rows, columns;
    float scale;
    char name[5];
};

__constant__ float table[16] = {1.5f, -2.0f, 0.0f, 4.0f};
__constant__ int steps[3][4] = {{1, 2}, {3}};
__device__ int counter = 7;
__device__ const char* words[2] = {"zero", "one\n"};
__device__ float total;
__managed__ int shared_with_host = 3;

typedef float (*Function)(float);
__device__ __noinline__ float twice(float x) { return x + x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ Function functions[2] = {twice, square};
__device__ __noinline__ float area(Shape shape) { return shape.rows * shape.columns * shape.scale; }
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__global__ void calls(Shape shape, float* out, int which, bool loud) {
    int i = threadIdx.x;
    float v = area(shape) + shape.name[which] + table[i % 16] + steps[which][i & 3];
    v = functions[which & 1](v) + twice(v);
    if (loud) printf("%s %d %f\n", words[which & 1], i, v);
    assert(v > 0.0f);
    if (v > 1e30f) __trap();
    out[i] = v + factorial(which);
    atomicAdd(&counter, 1);
}

__global__ void choose(int* a, int what) {
    switch (what) {
        case 0: a[0] = 3; break;
        case 1: a[1] = a[2] * 7; break;
        case 2: a[3] = a[2] / 7; break;
        case 3: a[4] = a[3] % 10;
        case 4: a[5] = __popc(a[3]) + __clz(a[1]); break;
        case 7: a[6] = a[what] << a[0]; break;
        default: a[what] = -1;
    }
}

__global__ void scratch(const int* in, int* out, int n) {
    int local[40];
    for (int i = 0; i < 40; i++) local[i] = in[i] * n;
    for (int i = 0; i < n; i++) local[(i * 7) % 40] += local[i % 40];
    out[threadIdx.x] = local[threadIdx.x % 40];
}

extern __shared__ __align__(1024) char dynamic[];

__global__ void exchange(float* data, volatile int* flag, long long* clocks) {
    __shared__ float tile[16][17];
    float* more = reinterpret_cast<float*>(dynamic);
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = data[y * 16 + x];
    more[y * 16 + x] = tile[y][x];
    __syncthreads();
    float* either = flag[0] ? &tile[x][0] : data;
    data[y * 16 + x] = tile[x][y] + more[x * 16 + y] + either[y];
    atomicAdd(&total, tile[0][0]);
    atomicMax(reinterpret_cast<int*>(&more[3]), x);
    atomicCAS(&counter, x, y);
    __threadfence();
    flag[1] = __syncthreads_count(x > y) + __any_sync(~0u, x == 3) + __ballot_sync(~0u, y == 2);
    clocks[x] = clock64() + warpSize;
}

template <int Width, typename T>
__global__ void copy(const T* __restrict__ from, T* to) {
    T part[Width];
#pragma unroll
    for (int i = 0; i < Width; i++) part[i] = from[threadIdx.x * Width + i];
#pragma unroll
    for (int i = 0; i < Width; i++) to[threadIdx.x * Width + Width - 1 - i] = part[i];
}
template __global__ void copy<4, float>(const float*, float*);
template __global__ void copy<2, double>(const double*, double*);
template __global__ void copy<3, unsigned char>(const unsigned char*, unsigned char*);

__global__ void vectors(const float4* a, float4* b, const uint2* c, uint2* d) {
    float4 v = __ldg(&a[threadIdx.x]);
    b[threadIdx.x] = make_float4(v.w, v.z, v.y * 0.1f, v.x);
    d[threadIdx.x] = make_uint2(__umulhi(c[0].x, c[0].y), __byte_perm(c[0].x, c[0].y, 0x5140));
}
