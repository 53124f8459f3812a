// im2col: windows of data (samples, channels, *extents) to columns (channels, *window, samples,
// *counts), and col2im. There are three spatial axes; KERNEL0 .. PAD2 define the window.
#include "spot.cuh"

#define WINDOW (KERNEL0 * KERNEL1 * KERNEL2)

// One thread for each channel, sample and window: it copies the window's elements.
extern "C" __global__ void gather(
    const Scalar *data, Scalar *columns, Index total, int channels, int samples,
    int extent0, int extent1, int extent2, int count0, int count1, int count2) {
    Index number = thread_number();
    if (number >= total) return;
    Index positions = (Index)count0 * count1 * count2;
    Index row = number / positions;
    Index position = number - row * positions;
    Index channel = row / samples;
    Index sample = row - channel * samples;
    int line = (int)(position / count2);
    int start0 = line / count1 * STRIDE0 - PAD0;
    int start1 = line % count1 * STRIDE1 - PAD1;
    int start2 = (int)(position - (Index)line * count2) * STRIDE2 - PAD2;
    const Scalar *source =
        data + ((Offset)sample * channels + channel) * extent0 * extent1 * extent2;
    Offset step = (Offset)samples * positions;
    Scalar *target = columns + (Offset)channel * WINDOW * step + (Offset)sample * positions + position;
    for (int k0 = 0; k0 < KERNEL0; ++k0) {
        int i0 = start0 + k0 * DILATE0;
        for (int k1 = 0; k1 < KERNEL1; ++k1) {
            int i1 = start1 + k1 * DILATE1;
            for (int k2 = 0; k2 < KERNEL2; ++k2) {
                int i2 = start2 + k2 * DILATE2;
                bool inside = i0 >= 0 && i0 < extent0 && i1 >= 0 && i1 < extent1 && i2 >= 0 &&
                              i2 < extent2;
                *target = inside ? source[((Offset)i0 * extent1 + i1) * extent2 + i2]
                                 : rounded((Wide)0);
                target += step;
            }
        }
    }
}

// The index of the window whose element k is at an offset from the first window, or -1.
__device__ inline int window_at(int offset, int stride, int count) {
    if (offset < 0 || offset % stride) return -1;
    int number = offset / stride;
    return number < count ? number : -1;
}

// One thread for each element of the data: it adds its values in all windows.
extern "C" __global__ void scatter(
    const Scalar *columns, Scalar *data, Index total, int channels, int samples,
    int extent0, int extent1, int extent2, int count0, int count1, int count2) {
    Index number = thread_number();
    if (number >= total) return;
    Index3 element(number, extent0, extent1, extent2);
    int i0 = element.at0, i1 = element.at1, i2 = element.at2;
    Index sample = element.row / channels;
    Index channel = element.row - sample * channels;
    Offset positions = (Offset)count0 * count1 * count2;
    Offset step = samples * positions;
    const Scalar *source = columns + (Offset)channel * WINDOW * step + sample * positions;
    Wide sum = 0;
    for (int k0 = 0; k0 < KERNEL0; ++k0) {
        int p0 = window_at(i0 + PAD0 - k0 * DILATE0, STRIDE0, count0);
        if (p0 < 0) continue;
        for (int k1 = 0; k1 < KERNEL1; ++k1) {
            int p1 = window_at(i1 + PAD1 - k1 * DILATE1, STRIDE1, count1);
            if (p1 < 0) continue;
            for (int k2 = 0; k2 < KERNEL2; ++k2) {
                int p2 = window_at(i2 + PAD2 - k2 * DILATE2, STRIDE2, count2);
                if (p2 < 0) continue;
                Offset element = (k0 * KERNEL1 + k1) * KERNEL2 + k2;
                sum += widen(source[element * step + ((Offset)p0 * count1 + p1) * count2 + p2]);
            }
        }
    }
    data[number] = rounded(sum);
}
