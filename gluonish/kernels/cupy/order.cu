// Sorts positions by their rows; equal rows keep their order. Chunks of CHUNK positions are sorted
// by counting what comes before each, which takes no order of blocks; then they are merged.
#include "positions.cuh"
#include "search.cuh"
#define THREADS 256

// Lanes that count for one position.
#define LANES 8

extern "C" __global__ void sort_chunks(
    const Position *positions, unsigned *rows, unsigned *places, unsigned total, long long count
) {
    __shared__ unsigned held[CHUNK];
    const unsigned first = blockIdx.y * CHUNK;
    const unsigned size = total - first < CHUNK ? total - first : CHUNK;
    for (unsigned i = threadIdx.x; i < size; i += THREADS) {
        held[i] = row_of(positions[first + i], count);
    }
    __syncthreads();
    const unsigned number = blockIdx.x * THREADS + threadIdx.x;
    const unsigned at = number / LANES, lane = number % LANES;
    const unsigned row = at < size ? held[at] : 0;
    unsigned rank = 0;
    if (at < size) {
#pragma unroll 8
        for (unsigned i = lane; i < size; i += LANES) rank += held[i] < row + (i < at);
    }
#pragma unroll
    for (int step = LANES / 2; step; step /= 2) rank += __shfl_xor_sync(0xffffffff, rank, step);
    if (at < size && !lane) {
        rows[first + rank] = row;
        places[first + rank] = first + at;
    }
}

extern "C" __global__ void merge_chunks(
    const unsigned *rows, const unsigned *places, unsigned *merged, unsigned *merged_places,
    unsigned total
) {
    const unsigned at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= total) return;
    const unsigned row = rows[at], own = at / CHUNK * CHUNK;
    unsigned rank = at - own;
    for (unsigned first = 0; first < total; first += CHUNK) {
        if (first == own) continue;
        const unsigned size = total - first < CHUNK ? total - first : CHUNK;
        rank += rows_below(rows + first, size, row + (first < own));
    }
    merged[rank] = row;
    merged_places[rank] = places[at];
}
