// Sums of rows at equal positions, in the order of the positions, and zeros at the others.
//
// ``rows`` are the rows of all positions in order, and ``places`` the position of each (order.cu).
// Segments of them are summed first. What is summed of a row that other segments have, too, goes to
// ``partial``, of which each segment has two: for the first row in it, and for its last. The order
// of additions depends on the positions only. Arrays are (outer, many, row) and (outer, count, row);
// a column is a unit of VECTOR elements of an outer index. 16-bit elements are added in float32.
#include "vectors.cuh"
#include "division.cuh"
#include "search.cuh"
#define THREADS 256
#define AHEAD 4  // rows that are loaded before the first of them is added

__device__ inline void clear(Wide *sums) {
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) sums[i] = 0;
}
__device__ inline void add(Wide *sums, const Wide *terms) {
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) sums[i] += terms[i];
}

extern "C" __global__ void sum_segments(
    const Scalar *grad, const unsigned *rows, const unsigned *places, Scalar *out, Wide *partial,
    unsigned threads, unsigned total, unsigned segment, unsigned columns, unsigned columns_factor,
    unsigned columns_shift, unsigned units, unsigned units_factor, unsigned units_shift,
    long long count
) {
    const unsigned number = blockIdx.x * THREADS + threadIdx.x;
    if (number >= threads) return;
    const unsigned index = quotient(number, columns_factor, columns_shift);
    const unsigned column = number - index * columns;
    const unsigned outer = quotient(column, units_factor, units_shift);
    const unsigned unit = column - outer * units;
    const unsigned first = index * segment;
    const unsigned end = total - first < segment ? total : first + segment;
    const Scalar *const source = grad + ((Offset)outer * total * units + unit) * VECTOR;
    Scalar *const target = out + ((Offset)outer * count * units + unit) * VECTOR;
    Wide *const shared = partial + ((Offset)2 * index * columns + column) * VECTOR;
    const Offset pitch = (Offset)units * VECTOR;

    unsigned row = rows[first];
    bool begun = first && rows[first - 1] == row;  // in an earlier segment
    bool is_first = true;
    Wide sums[VECTOR];
    clear(sums);
    for (unsigned k = first; k < end; k += AHEAD) {
        Wide terms[AHEAD][VECTOR];
        unsigned next[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            if (k + i < end) {
                next[i] = rows[k + i];
                load_vector<VECTOR>(source + places[k + i] * pitch, terms[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            if (k + i < end) {
                if (next[i] != row) {
                    if (begun) {
                        store_vector<VECTOR>(shared, sums);
                    } else {
                        store_vector<VECTOR>(target + row * pitch, sums);
                    }
                    begun = is_first = false;
                    row = next[i];
                    clear(sums);
                }
                add(sums, terms[i]);
            }
        }
    }
    if (begun || (end < total && rows[end] == row)) {
        store_vector<VECTOR>(shared + (is_first ? 0 : (Offset)columns * VECTOR), sums);
    } else {
        store_vector<VECTOR>(target + row * pitch, sums);
    }
}

// A block has ROWS rows of the output, and ``abreast`` columns.
extern "C" __global__ void finish_rows(
    const unsigned *rows, const Wide *partial, Scalar *out, unsigned total, unsigned segment,
    unsigned columns, unsigned abreast, unsigned abreast_factor, unsigned abreast_shift,
    unsigned units, unsigned units_factor, unsigned units_shift, unsigned count
) {
    __shared__ unsigned begins[ROWS + 1];
    const unsigned first = blockIdx.x * ROWS;
    for (unsigned i = threadIdx.x; i <= ROWS && first + i <= count; i += THREADS) {
        begins[i] = rows_below(rows, total, first + i);
    }
    __syncthreads();
    for (unsigned item = threadIdx.x; item < ROWS * abreast; item += THREADS) {
        const unsigned line = quotient(item, abreast_factor, abreast_shift);
        const unsigned column = blockIdx.y * abreast + (item - line * abreast);
        if (first + line >= count || column >= columns) continue;
        const unsigned begin = begins[line], end = begins[line + 1];
        const unsigned head = begin / segment, last = end ? (end - 1) / segment : 0;
        Wide sums[VECTOR];
        clear(sums);
        if (begin < end) {
            if (head == last) continue;  // all of it is in one segment, which stored the sums
            // The first part is that of a last row, unless the segment starts with it.
            const Wide *part = partial + ((Offset)2 * head * columns + column) * VECTOR;
            if (begin % segment) part += (Offset)columns * VECTOR;
            load_vector<VECTOR>(part, sums);
            part = partial + ((Offset)2 * (head + 1) * columns + column) * VECTOR;
            for (unsigned k = head + 1; k <= last; k += AHEAD) {
                Wide terms[AHEAD][VECTOR];
#pragma unroll
                for (int i = 0; i < AHEAD; ++i) {
                    if (k + i <= last) {
                        load_vector<VECTOR>(part + (Offset)2 * i * columns * VECTOR, terms[i]);
                    }
                }
#pragma unroll
                for (int i = 0; i < AHEAD; ++i) {
                    if (k + i <= last) add(sums, terms[i]);
                }
                part += (Offset)2 * AHEAD * columns * VECTOR;
            }
        }
        const unsigned outer = quotient(column, units_factor, units_shift);
        const Offset row = (Offset)outer * count + first + line;
        store_vector<VECTOR>(out + (row * units + (column - outer * units)) * VECTOR, sums);
    }
}
