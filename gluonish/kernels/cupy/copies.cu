// Copies an array to another, whose elements lie in any regular order; converts them.
//
// The arrays are nested loops of RANK axes, the innermost first. A thread copies UNROLLED units of
// VECTOR elements of the innermost axis, which are adjacent in the target, and in the source if
// ADJACENT. Steps along the innermost axis are those from one unit to the next.
#include "elements.cuh"
#define THREADS 256

struct Loops {
    unsigned long long written, read;  // addresses
    long long to[RANK], from[RANK];    // steps in elements
    long long apart;                   // step between elements of a unit in the source
    unsigned extents[RANK], factors[RANK], shifts[RANK];
    unsigned count;  // of units
};

extern "C" __global__ void copy_elements(const __grid_constant__ Loops loops) {
    const unsigned first = blockIdx.x * (THREADS * UNROLLED) + threadIdx.x;
    const Source *const source = (const Source *)loops.read;
    Target *const target = (Target *)loops.written;
    Value values[UNROLLED][VECTOR];
    Step places[UNROLLED];
#pragma unroll
    for (int k = 0; k < UNROLLED; ++k) {
        unsigned left = first + k * THREADS;
        if (left >= loops.count) break;
        Step to = 0, from = 0;
#pragma unroll
        for (int axis = 0; axis < RANK - 1; ++axis) {
            const unsigned outer = quotient(left, loops.factors[axis], loops.shifts[axis]);
            const Step at = (Step)(left - outer * loops.extents[axis]);
            to += at * (Step)loops.to[axis];
            from += at * (Step)loops.from[axis];
            left = outer;
        }
        places[k] = to + (Step)left * (Step)loops.to[RANK - 1];
        from += (Step)left * (Step)loops.from[RANK - 1];
#if ADJACENT
        load_vector<VECTOR>(source + from, values[k]);
#else
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            load_vector<1>(source + (from + i * (Step)loops.apart), values[k] + i);
        }
#endif
    }
#pragma unroll
    for (int k = 0; k < UNROLLED; ++k) {
        if (first + k * THREADS >= loops.count) break;
        store_vector<VECTOR>(target + places[k], values[k]);
    }
}
