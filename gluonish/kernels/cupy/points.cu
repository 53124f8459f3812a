// Flat positions of points, which are columns of coordinates along AXES axes. Negative coordinates
// count from the end. ``wrong`` becomes 1 if a coordinate is out of range.
#include "positions.cuh"
#define THREADS 256

struct Extents { long long of[AXES]; };

extern "C" __global__ void flatten_points(
    const Position *points, long long *flat, unsigned *wrong, unsigned many, Extents extents
) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= many) return;
    long long position = 0;
    bool outside = false;
#pragma unroll
    for (int axis = 0; axis < AXES; ++axis) {
        const long long at = whole(points[(size_t)axis * many + i]), extent = extents.of[axis];
        outside |= at < -extent || at >= extent;
        position = position * extent + (at < 0 ? at + extent : at);
    }
    flat[i] = position;
    if (outside) *wrong = 1;
}
