// Whether all elements of several arrays are finite, in one launch.
//
// A block tests BLOCK elements of an array, and writes 0 if one is infinite or NaN. All threads
// write the same number, so their order does not matter. MOST: arrays per Table.
#define THREADS 256
#define LANES (int)(sizeof(Scalar) == 2 ? 8 : 4)  // at least one access of 16 bytes

struct Table {
    unsigned long long read[1][MOST];
    long long sizes[MOST];
    unsigned ends[MOST], count;
};
#include "tables.cuh"
#include "vectors.cuh"

extern "C" __global__ void all_finite(const __grid_constant__ Table table, float *finite) {
    const unsigned owner = owner_of(table, blockIdx.x);
    const long long from = (long long)(blockIdx.x - first_block(table, owner)) * BLOCK;
    const long long rest = table.sizes[owner] - from;
    const int size = rest < BLOCK ? (int)rest : BLOCK;
    const Scalar *const sources = (const Scalar *)table.read[0][owner] + from;
    const int whole = (unsigned long long)sources % 16 ? 0 : size / LANES * LANES;
    Wide total = 0;  // x * 0 is NaN unless x is finite
    for (int i = LANES * threadIdx.x; i < whole; i += THREADS * LANES) {
        Wide values[LANES];
        load_vector<LANES>(sources + i, values);
#pragma unroll
        for (int k = 0; k < LANES; ++k) total += values[k] * 0;
    }
    for (int i = whole + threadIdx.x; i < size; i += THREADS) total += widen(sources[i]) * 0;
    if (total != total) *finite = 0;
}
