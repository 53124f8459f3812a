// Channels padded with zeros to one access of 16 bytes, channels last, and cut back.
//
// CHANNELS: of the narrow array, (rows, channels, window) in memory; with a window of 1 its channels
// are last. A thread moves the channels of one pixel: an element of a row's window.
#include "vectors.cuh"

#ifndef CHANNELS
#define CHANNELS 3
#endif
#define WIDTH (16 / (int)sizeof(Scalar))

typedef Chunk<Scalar, WIDTH> Pixel;

// The first element of a pixel in a narrow array.
__device__ inline Index start_of(Index pixel, Index window) {
    const Index row = pixel / window;
    return row * CHANNELS * window + (pixel - row * window);
}

__device__ inline void pad(const Scalar *narrow, Scalar *wide, Index pixel, Index window) {
    const Scalar *source = narrow + start_of(pixel, window);
    Pixel made;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
        made.item[i] = i < CHANNELS ? source[(Index)i * window] : rounded((Wide)0);
    }
    ((uint4 *)wide)[pixel] = made.word;
}

extern "C" __global__ void pad_channels(
    const Scalar *narrow, Scalar *wide, Index pixels, Index window
) {
    const Index number = thread_number();
    if (number < pixels) pad(narrow, wide, number, window);
}

// Two arrays: the pixels of the second follow those of the first.
extern "C" __global__ void pad_both_channels(
    const Scalar *first, Scalar *first_wide, Index first_pixels, Index first_window,
    const Scalar *second, Scalar *second_wide, Index second_pixels, Index second_window
) {
    const Index number = thread_number();
    if (number < first_pixels) {
        pad(first, first_wide, number, first_window);
    } else if (number - first_pixels < second_pixels) {
        pad(second, second_wide, number - first_pixels, second_window);
    }
}

extern "C" __global__ void cut_channels(
    const Scalar *wide, Scalar *narrow, Index pixels, Index window
) {
    const Index number = thread_number();
    if (number >= pixels) return;
    Pixel given;
    given.word = ((const uint4 *)wide)[number];
    Scalar *target = narrow + start_of(number, window);
#pragma unroll
    for (int i = 0; i < CHANNELS; ++i) target[(Index)i * window] = given.item[i];
}
