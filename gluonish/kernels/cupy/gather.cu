// Rows of an array at positions, and rows of an array put at positions. A thread copies UNROLLED
// units of VECTOR elements of rows.
#include "elements.cuh"
#include "positions.cuh"
#define THREADS 256

// Arrays are (outer, count, row) and (outer, many, row), with the same positions for each outer
// index. ``total``: units of the output; ``units``: of a row.
extern "C" __global__ void gather_rows(
    const Source *data, const Position *positions, Target *out, unsigned total, unsigned units,
    unsigned units_factor, unsigned units_shift, unsigned many, unsigned many_factor,
    unsigned many_shift, long long count
) {
    const unsigned first = blockIdx.x * (THREADS * UNROLLED) + threadIdx.x;
    Value values[UNROLLED][VECTOR];
#pragma unroll
    for (int k = 0; k < UNROLLED; ++k) {
        const unsigned unit = first + k * THREADS;
        if (unit >= total) break;
        const unsigned line = quotient(unit, units_factor, units_shift);
        const unsigned outer = quotient(line, many_factor, many_shift);
        const Offset row = outer * count + row_of(positions[line - outer * many], count);
        load_vector<VECTOR>(data + (row * units + (unit - line * units)) * VECTOR, values[k]);
    }
#pragma unroll
    for (int k = 0; k < UNROLLED; ++k) {
        const unsigned unit = first + k * THREADS;
        if (unit >= total) break;
        store_vector<VECTOR>(out + (Offset)unit * VECTOR, values[k]);
    }
}

// Of equal rows in order, the last is put. ``total``: units of all ``many`` rows of the data.
extern "C" __global__ void put_rows(
    const Source *data, const unsigned *rows, const unsigned *places, Target *out, unsigned total,
    unsigned many, unsigned units, unsigned units_factor, unsigned units_shift
) {
    const unsigned unit = blockIdx.x * THREADS + threadIdx.x;
    if (unit >= total) return;
    const unsigned rank = quotient(unit, units_factor, units_shift);
    const unsigned row = rows[rank], column = unit - rank * units;
    if (rank + 1 < many && rows[rank + 1] == row) return;
    Value values[VECTOR];
    load_vector<VECTOR>(data + ((Offset)places[rank] * units + column) * VECTOR, values);
    store_vector<VECTOR>(out + ((Offset)row * units + column) * VECTOR, values);
}
