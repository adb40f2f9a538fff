// ggml's quantised formats: blocks of numbers, and the number at a place of a block. A code is a few bits; of the formats
// with sub-blocks, a scale has 4, 6 or 8.
#pragma once
#include <cuda_fp16.h>
#include <stdint.h>

struct Q4_0 { half d; uint8_t codes[16]; };
struct Q4_1 { half d, m; uint8_t codes[16]; };
struct Q5_0 { half d; uint8_t high[4], codes[16]; };
struct Q5_1 { half d, m; uint8_t high[4], codes[16]; };
struct Q8_0 { half d; int8_t codes[32]; };
struct Q2_K { uint8_t scales[16], codes[64]; half d, m; };
struct Q3_K { uint8_t high[32], codes[64], scales[12]; half d; };
struct Q4_K { half d, m; uint8_t scales[12], codes[128]; };
struct Q5_K { half d, m; uint8_t scales[12], high[32], codes[128]; };
struct Q6_K { uint8_t low[128], high[64]; int8_t scales[16]; half d; };

// What the numbers of a vector are held as: a code of 8 bits times d; s is the sum of the block.
struct Q8_1 { half d, s; int8_t codes[32]; };

__device__ int nibble(const uint8_t *codes, int i) { return i < 16 ? codes[i] & 15 : codes[i - 16] >> 4; }
__device__ int bit(const uint8_t *bytes, int i) { return bytes[i / 8] >> (i % 8) & 1; }

__device__ int code(const Q4_0 &b, int i) { return nibble(b.codes, i); }
__device__ int code(const Q4_1 &b, int i) { return nibble(b.codes, i); }
__device__ int code(const Q5_0 &b, int i) { return nibble(b.codes, i) + 16 * bit(b.high, i); }
__device__ int code(const Q5_1 &b, int i) { return nibble(b.codes, i) + 16 * bit(b.high, i); }

__device__ float number(const Q4_0 &b, int i) { return __half2float(b.d) * (code(b, i) - 8); }
__device__ float number(const Q4_1 &b, int i) { return __half2float(b.d) * code(b, i) + __half2float(b.m); }
__device__ float number(const Q5_0 &b, int i) { return __half2float(b.d) * (code(b, i) - 16); }
__device__ float number(const Q5_1 &b, int i) { return __half2float(b.d) * code(b, i) + __half2float(b.m); }
__device__ float number(const Q8_0 &b, int i) { return __half2float(b.d) * b.codes[i]; }

// Of 256 numbers, each half has four groups of 32, whose codes of two bits lie in the same bytes.
__device__ int two_bits(const uint8_t *bytes, int i)
{
    return bytes[i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3;
}

__device__ float number(const Q2_K &b, int i)
{
    int scale = b.scales[i / 16];
    return __half2float(b.d) * (scale & 15) * two_bits(b.codes, i) - __half2float(b.m) * (scale >> 4);
}

__device__ float number(const Q3_K &b, int i)
{
    int part = i / 16;
    int low = part < 8 ? b.scales[part] & 15 : b.scales[part - 8] >> 4;
    int scale = (low | (b.scales[8 + part % 4] >> (2 * (part / 4)) & 3) << 4) - 32;
    int lowered = b.high[i % 32] & 1 << (i / 32) ? 0 : 4;
    return __half2float(b.d) * scale * (two_bits(b.codes, i) - lowered);
}

// A scale and a minimum of 6 bits each, for 32 numbers.
__device__ int scale_of(const uint8_t *scales, int j)
{
    return j < 4 ? scales[j] & 63 : (scales[j + 4] & 15) | scales[j - 4] >> 6 << 4;
}
__device__ int minimum_of(const uint8_t *scales, int j)
{
    return j < 4 ? scales[j + 4] & 63 : scales[j + 4] >> 4 | scales[j] >> 6 << 4;
}
__device__ int nibble_of_64(const uint8_t *codes, int i)
{
    int byte = codes[i / 64 * 32 + i % 32];
    return i % 64 < 32 ? byte & 15 : byte >> 4;
}

__device__ float number(const Q4_K &b, int i)
{
    int scale = scale_of(b.scales, i / 32), minimum = minimum_of(b.scales, i / 32);
    return __half2float(b.d) * scale * nibble_of_64(b.codes, i) - __half2float(b.m) * minimum;
}

__device__ float number(const Q5_K &b, int i)
{
    int scale = scale_of(b.scales, i / 32), minimum = minimum_of(b.scales, i / 32);
    int high = b.high[i % 32] & 1 << (i / 32) ? 16 : 0;
    return __half2float(b.d) * scale * (nibble_of_64(b.codes, i) + high) - __half2float(b.m) * minimum;
}

__device__ float number(const Q6_K &b, int i)
{
    int byte = b.low[i / 128 * 64 + i % 64];
    int low = i % 128 < 64 ? byte & 15 : byte >> 4;
    return __half2float(b.d) * b.scales[i / 16] * ((low | two_bits(b.high, i) << 4) - 32);
}
