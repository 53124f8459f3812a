// Pooling of (samples * channels, *extents), with three spatial axes.
#include "spot.cuh"

#ifndef POOL
#define POOL 0  // 0 the maximum, 1 the mean, 2 the sum
#endif
#ifndef WITH_PAD
#define WITH_PAD 1  // whether means include padding
#endif

#define LOWEST ((Wide)-__uint_as_float(0x7f800000))  // the padding of a maximum

// Number of elements that a window averages along an axis.
__device__ inline int length(int number, int kernel, int stride, int pad, int extent) {
    int start = number * stride - pad, end = start + kernel;
    int last = WITH_PAD ? extent + pad : extent;
    if (!WITH_PAD && start < 0) start = 0;
    if (end > last) end = last;
    return end - start > 1 ? end - start : 1;
}

// One thread for each window.
extern "C" __global__ void pool(
    const Scalar *data, Scalar *out, Index total, int kernel0, int kernel1, int kernel2,
    int stride0, int stride1, int stride2, int pad0, int pad1, int pad2, int extent0, int extent1,
    int extent2, int count0, int count1, int count2) {
    Index number = thread_number();
    if (number >= total) return;
    Index3 window(number, count0, count1, count2);
    int p0 = window.at0, p1 = window.at1, p2 = window.at2;
    const Scalar *source = data + (Offset)window.row * extent0 * extent1 * extent2;
    Wide found = POOL ? (Wide)0 : LOWEST;
    for (int k0 = 0; k0 < kernel0; ++k0) {
        int i0 = p0 * stride0 - pad0 + k0;
        if (i0 < 0 || i0 >= extent0) continue;
        for (int k1 = 0; k1 < kernel1; ++k1) {
            int i1 = p1 * stride1 - pad1 + k1;
            if (i1 < 0 || i1 >= extent1) continue;
            for (int k2 = 0; k2 < kernel2; ++k2) {
                int i2 = p2 * stride2 - pad2 + k2;
                if (i2 < 0 || i2 >= extent2) continue;
                Wide here = widen(source[((Offset)i0 * extent1 + i1) * extent2 + i2]);
#if POOL
                found += here;
#else
                if (here > found || here != here) found = here;
#endif
            }
        }
    }
#if POOL == 1
    found /= (Wide)length(p0, kernel0, stride0, pad0, extent0) *
             (Wide)length(p1, kernel1, stride1, pad1, extent1) *
             (Wide)length(p2, kernel2, stride2, pad2, extent2);
#endif
    out[number] = rounded(found);
}

// One thread for each window: the index of its maximum, the first of equal ones, counting padding;
// an index beyond the window for NaN, which equals no element.
extern "C" __global__ void first_maximum(
    const Scalar *data, const Scalar *out, unsigned short *first, Index total, int kernel0,
    int kernel1, int kernel2, int stride0, int stride1, int stride2, int pad0, int pad1, int pad2,
    int extent0, int extent1, int extent2, int count0, int count1, int count2) {
    Index number = thread_number();
    if (number >= total) return;
    Index3 window(number, count0, count1, count2);
    int p0 = window.at0, p1 = window.at1, p2 = window.at2;
    const Scalar *source = data + (Offset)window.row * extent0 * extent1 * extent2;
    Wide top = widen(out[number]);
    int at = 0, found = kernel0 * kernel1 * kernel2;
    for (int k0 = 0; k0 < kernel0; ++k0) {
        int i0 = p0 * stride0 - pad0 + k0;
        for (int k1 = 0; k1 < kernel1; ++k1) {
            int i1 = p1 * stride1 - pad1 + k1;
            for (int k2 = 0; k2 < kernel2; ++k2, ++at) {
                int i2 = p2 * stride2 - pad2 + k2;
                bool inside = i0 >= 0 && i0 < extent0 && i1 >= 0 && i1 < extent1 && i2 >= 0 &&
                              i2 < extent2;
                Wide here = inside
                    ? widen(source[((Offset)i0 * extent1 + i1) * extent2 + i2]) : LOWEST;
                if (here == top && at < found) found = at;
            }
        }
    }
    first[number] = (unsigned short)found;
}

// The last window that may contain an element.
__device__ inline int last_window(int offset, int stride, int count) {
    int number = offset / stride;
    return number < count ? number : count - 1;
}

// One thread for each element of the data: it adds the gradients from its windows, the last first.
extern "C" __global__ void pool_backward(
    const Scalar *grad, const unsigned short *first, Scalar *result, Index total, int kernel0,
    int kernel1, int kernel2, int stride0, int stride1, int stride2, int pad0, int pad1, int pad2,
    int extent0, int extent1, int extent2, int count0, int count1, int count2) {
    Index number = thread_number();
    if (number >= total) return;
    Index3 element(number, extent0, extent1, extent2);
    int i0 = element.at0, i1 = element.at1, i2 = element.at2;
    Offset windows = (Offset)element.row * count0 * count1 * count2;
    Wide sum = 0;
    int last0 = last_window(i0 + pad0, stride0, count0);
    int last1 = last_window(i1 + pad1, stride1, count1);
    int last2 = last_window(i2 + pad2, stride2, count2);
    for (int p0 = last0, k0 = i0 + pad0 - p0 * stride0; p0 >= 0 && k0 < kernel0;
         --p0, k0 += stride0) {
        for (int p1 = last1, k1 = i1 + pad1 - p1 * stride1; p1 >= 0 && k1 < kernel1;
             --p1, k1 += stride1) {
            for (int p2 = last2, k2 = i2 + pad2 - p2 * stride2; p2 >= 0 && k2 < kernel2;
                 --p2, k2 += stride2) {
                Offset window = windows + ((Offset)p0 * count1 + p1) * count2 + p2;
#if POOL == 0
                if (first[window] != (k0 * kernel1 + k1) * kernel2 + k2) continue;
#endif
                Wide share = widen(grad[window]);
#if POOL == 1
                share /= (Wide)length(p0, kernel0, stride0, pad0, extent0) *
                         (Wide)length(p1, kernel1, stride1, pad1, extent1) *
                         (Wide)length(p2, kernel2, stride2, pad2, extent2);
#endif
                sum += share;
            }
        }
    }
    result[number] = rounded(sum);
}
