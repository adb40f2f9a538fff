/* A stand-in for NVIDIA's driver, for tests of programs that use its interface. Memory is the host's. A launch computes
 * nothing: it looks up the kernel, its parameters and the contents of the memory that they point to in the file that
 * $DRIVER_ANSWERS names, and leaves there what that says. Whatever is not as the driver needs it is an error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_VALUE = 1, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, UNSUPPORTED_PTX = 222 };
enum { NEVER_WRITTEN = 0xCD };
enum { AS_EXPECTED, FAILS, HANGS, WRITES_WRONG_VALUES, WRITES_BESIDE };

typedef uint64_t u64;
typedef struct { const char *at; u64 size; } Bytes;
typedef struct { char *at; u64 size; } Allocation;
typedef struct { char name[256]; char *at; } Variable;

static Allocation allocations[1 << 12];
static int allocated;
static Variable variables[64];
static int named, copies_pending, failed;
static char *answers;

static int complain(const char *what)
{
    fprintf(stderr, "stand-in: %s\n", what);
    return INVALID_VALUE;
}

static u64 word(const char **at)
{
    u64 value;
    memcpy(&value, *at, 8);
    *at += 8;
    return value;
}

static Bytes bytes(const char **at)
{
    Bytes held = {NULL, word(at)};
    held.at = *at;
    *at += held.size;
    return held;
}

/* Whether an address begins an object that an allocation has room for. */
static Allocation *holding(u64 address, u64 size)
{
    for (int i = 0; i < allocated; i++) {
        u64 first = (u64)allocations[i].at;
        if (first && first <= address && address + size <= first + allocations[i].size)
            return &allocations[i];
    }
    return NULL;
}

int cuInit(unsigned flags)
{
    const char *path = getenv("DRIVER_ANSWERS");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file || flags)
        return complain("$DRIVER_ANSWERS is no file");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    answers = malloc(size + 1);
    return fread(answers, 1, size, file) == (size_t)size ? OK : complain("short read");
}

int cuDeviceGetCount(int *count) { return *count = getenv("DRIVER_NO_GPU") ? 0 : 1, OK; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, OK; }
int cuDriverGetVersion(int *version) { return *version = 13000, OK; }
int cuCtxSetCurrent(void *context) { return context ? OK : INVALID_VALUE; }
int cuModuleUnload(void *module) { return module ? OK : INVALID_VALUE; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &answers, device; }

int cuDeviceGetName(char *name, int size, int device)
{
    return snprintf(name, size, "stand-in"), device;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? 9 : 0;
    return device || (attribute != 75 && attribute != 76);
}

int cuGetErrorName(int error, const char **text)
{
    *text = error == ILLEGAL_ADDRESS   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == UNSUPPORTED_PTX ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
                                       : "CUDA_ERROR_INVALID_VALUE";
    return OK;
}

int cuGetErrorString(int error, const char **text) { return cuGetErrorName(error, text); }

/* A driver that is older than the PTX takes code for the hardware only. */
int cuModuleLoadData(void **module, const void *image)
{
    *module = &answers;
    named = 0;
    if (memcmp(image, "\177ELF", 4) == 0)
        return OK;
    return getenv("DRIVER_IS_OLD") ? UNSUPPORTED_PTX : strstr(image, ".version") ? OK : complain("no PTX");
}

int cuModuleLoad(void **module, const char *path)
{
    char start[4] = {0};
    FILE *file = fopen(path, "rb");
    if (!file || fread(start, 1, 4, file) != 4)
        return complain("no such file");
    fclose(file);
    return cuModuleLoadData(module, start);
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    return *function = strdup(name), module ? OK : NOT_FOUND;
}

int cuModuleGetGlobal_v2(u64 *at, size_t *size, void *module, const char *name)
{
    int which = 0;
    while (which < named && strcmp(variables[which].name, name))
        which++;
    if (which == named) {
        snprintf(variables[named].name, 256, "%s", name);
        allocations[allocated++] = (Allocation){variables[named++].at = calloc(1, 1 << 20), 1 << 20};
    }
    *at = (u64)variables[which].at;
    return size || !module ? INVALID_VALUE : OK;
}

int cuMemAlloc_v2(u64 *at, size_t size)
{
    char *held = aligned_alloc(256, (size + 255) / 256 * 256);
    memset(held, NEVER_WRITTEN, size);
    if (allocated == 1 << 12 || !size)
        return complain("memory");
    allocations[allocated++] = (Allocation){held, size};
    return *at = (u64)held, OK;
}

int cuMemFree_v2(u64 at)
{
    Allocation *held = holding(at, 1);
    if (!held || (u64)held->at != at)
        return complain("this was not allocated");
    free(held->at);
    *held = allocations[--allocated];
    return OK;
}

int cuMemcpyHtoD_v2(u64 to, const void *from, size_t size)
{
    if (size && !holding(to, size))
        return complain("a copy outside of memory");
    memcpy((void *)to, from, size);
    copies_pending = 1;
    return OK;
}

int cuMemcpyDtoH_v2(void *to, u64 from, size_t size)
{
    if (size && !holding(from, size))
        return complain("a copy outside of memory");
    memcpy(to, (void *)from, size);
    return OK;
}

int cuCtxSynchronize(void)
{
    copies_pending = 0;
    return failed ? ILLEGAL_ADDRESS : OK;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    return function && (attribute == 8 || attribute == 14) && value >= 0 ? OK : INVALID_VALUE;
}

/* A map is its arguments, in 128 bytes. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *base, const u64 *extents, const u64 *strides,
                           const unsigned *box, const unsigned *steps, int interleave, int swizzle, int promotion,
                           int fill)
{
    unsigned words[32] = {0x4D41504Du, type, rank, swizzle};
    if ((u64)map % 64 || (u64)base % 16 || rank < 1 || rank > 5 || interleave || promotion || fill)
        return complain("a map that is not allowed");
    memcpy(words + 4, &base, 8);
    for (unsigned i = 0; i < rank; i++) {
        words[6 + i] = (unsigned)extents[i];
        words[11 + i] = i + 1 < rank ? (unsigned)strides[i] : 0;
        words[16 + i] = box[i];
        if (steps[i] != 1)
            return complain("steps in a map");
    }
    memcpy(map, words, sizeof words);
    return OK;
}

/* Whether memory has some contents, or none yet. */
static int contains(u64 place, Bytes held)
{
    u64 at = 0;
    while (at < held.size && ((unsigned char *)place)[at] == NEVER_WRITTEN)
        at++;
    return at == held.size || !memcmp((void *)place, held.at, held.size);
}

/* The areas that the parameters of a launch point to; 0 if the parameters are not those of the answer. */
static int matches(void **parameters, const char **at, u64 *places)
{
    u64 count = word(at), good = 1;
    for (u64 i = 0; i < count; i++) {
        Bytes value = bytes(at);
        char *copy = malloc(value.size + 1);
        memcpy(copy, parameters[i], value.size);
        for (u64 left = word(at); left; left--) {
            u64 offset = word(at), area = word(at);
            Bytes map = bytes(at);
            u64 inside = map.size ? offset + 16 : offset, address;
            memcpy(&address, copy + inside, 8);
            places[area] = address;
            /* What follows compares the rest: the address becomes that of the answer, which is 0. */
            if (map.size) {
                memset(copy + inside, 0, 8);
                good &= !memcmp(copy + offset, map.at, map.size);
                memset(copy + offset, 0, map.size);
            } else {
                memset(copy + offset, 0, 8);
            }
        }
        good &= !memcmp(copy, value.at, value.size);
        free(copy);
    }
    return (int)good;
}

typedef struct { unsigned id, pad, value[16]; } Attribute;
typedef struct { unsigned grid[3], block[3], shared; void *stream; Attribute *attributes; unsigned count; } Config;

int cuLaunchKernelEx(const Config *config, void *function, void **parameters, void **extra)
{
    if (extra || copies_pending)
        return complain(extra ? "parameters as a block of bytes" : "copies that may not have arrived");
    const char *at = answers;
    for (u64 left = word(&at); left; left--) {
        u64 size = word(&at), places[64] = {0};
        const char *next = at + size;
        Bytes name = bytes(&at);
        u64 does = word(&at);
        int same = strlen(function) == name.size && !memcmp(function, name.at, name.size);
        Bytes launch = bytes(&at);
        unsigned shape[12] = {0};
        memcpy(shape, config, 28);
        for (unsigned i = 0; i < config->count; i++) {
            if (config->attributes[i].id == 4)
                memcpy(shape + 7, config->attributes[i].value, 12);
            else if (config->attributes[i].id == 2)
                shape[10] = config->attributes[i].value[0];
            else if (config->attributes[i].id == 6)
                shape[11] = config->attributes[i].value[0];
        }
        same = same && launch.size == sizeof shape && !memcmp(shape, launch.at, launch.size);
        same = same && matches(parameters, &at, places);
        const char *first = at;
        for (int turn = 0; same && turn < 2; turn++) {
            at = first;
            u64 areas = word(&at);
            for (u64 area = 0; same && area < areas; area++) {
                Bytes variable = bytes(&at), before, after;
                u64 offset = word(&at), place = places[area];
                before = bytes(&at), after = bytes(&at);
                for (int i = 0; i < named; i++)
                    if (strlen(variables[i].name) == variable.size && !memcmp(variables[i].name, variable.at, variable.size))
                        place = (u64)variables[i].at + offset;
                /* What neither a parameter nor a variable leads to, another launch accesses. */
                if (!place)
                    continue;
                Allocation *held = holding(place, before.size);
                if (turn == 0) {
                    same = held && contains(place, before);
                    continue;
                }
                memcpy((void *)place, after.at, after.size);
                if (does == WRITES_WRONG_VALUES && memcmp(before.at, after.at, after.size))
                    memset((void *)place, 0x3C, after.size);
                if (does == WRITES_BESIDE && place + after.size < (u64)held->at + held->size)
                    ((char *)place)[after.size] ^= 1;
            }
        }
        if (same) {
            failed = does == FAILS;
            while (does == HANGS)
                sleep(1);
            return OK;
        }
        at = next;
    }
    return complain("no such launch: kernel, sizes, parameters or memory are others");
}
