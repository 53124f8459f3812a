// Casts of several weights in one launch, each to the same memory layout or to channels last, or, if
// BACK, from channels last.
//
// A weight is rows of channels, each a window of contiguous elements: (filters, channels, *kernel).
// Channels last, the window's elements lie apart, and channels are contiguous. A weight in the same
// layout is one row of windows of 1. A block casts a tile: as many channels of a row as fit.
// TILE: elements of a tile. MOST: weights per Table. NARROWS: whether the sources are float32.
#define THREADS 256

struct Table {
    unsigned long long written[MOST], read[MOST];
    unsigned channels[MOST], windows[MOST], ends[MOST], count;
};
#include "tables.cuh"

#if NARROWS
typedef float Source;
#define WIDENED(x) (x)
#else
typedef Scalar Source;
#define WIDENED(x) widen(x)
#endif

extern "C" __global__ void cast_weights(const __grid_constant__ Table table) {
    __shared__ Wide tile[TILE];
    const unsigned owner = owner_of(table, blockIdx.x);
    const unsigned channels = table.channels[owner], window = table.windows[owner];
    const unsigned most = TILE / window, tiles = (channels + most - 1) / most;
    const unsigned block = blockIdx.x - first_block(table, owner);
    const unsigned row = block / tiles, first = block % tiles * most;
    const unsigned count = channels - first < most ? channels - first : most;
    const Offset start = (Offset)row * channels * window;
    const Offset apart = start + first, together = start + (Offset)first * window;
    const Source *source = (const Source *)table.read[owner] + (BACK ? apart : together);
    Scalar *target = (Scalar *)table.written[owner] + (BACK ? together : apart);
    for (unsigned i = threadIdx.x; i < count * window; i += THREADS) {
        const unsigned element = i / count, channel = i - element * count;
        const unsigned inside = channel * window + element;
        if (BACK) {
            tile[inside] = WIDENED(source[(Offset)element * channels + channel]);
        } else {
            tile[i] = WIDENED(source[i]);
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count * window; i += THREADS) {
        const unsigned element = i / count, channel = i - element * count;
        const unsigned inside = channel * window + element;
        if (BACK) {
            target[i] = rounded(tile[i]);
        } else {
            target[(Offset)element * channels + channel] = rounded(tile[inside]);
        }
    }
}
