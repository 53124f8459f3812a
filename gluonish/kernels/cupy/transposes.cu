// Copies an array to another whose innermost axis is another one; converts elements.
//
// A block moves a tile of SIDE x SIDE elements through shared memory: it reads IN_VECTOR elements
// at once along the axis that is adjacent in the source ("down"), and writes OUT_VECTOR at once
// along the one that is adjacent in the target ("across"). Rows of the tile have a pitch that spreads
// the elements of a column over the banks. Other axes are loops of RANK axes, the innermost first.
#include "elements.cuh"
#define THREADS 256

struct Tiles {
    unsigned long long written, read;    // addresses
    long long to[RANK], from[RANK];      // steps in elements, of the other axes
    long long down_step, across_step;    // of down in the target, of across in the source
    unsigned extents[RANK], factors[RANK], shifts[RANK];
    unsigned down, across;               // extents
    unsigned tiles_down, tiles_across;   // tiles along them
    unsigned down_factor, down_shift, across_factor, across_shift;  // divide by their numbers
};

// Lanes beside each other that write one row: enough for 32 elements.
#define ABREAST (32 / OUT_VECTOR)
#define IN_GROUPS (SIDE / IN_VECTOR)
#define LOADS ((SIDE * IN_GROUPS + THREADS - 1) / THREADS)
#define STORES ((SIDE * (SIDE / OUT_VECTOR) + THREADS - 1) / THREADS)

// Elements of a word of shared memory, which has 4 bytes or one element.
template <class T> __device__ constexpr int per_word(int count) {
    return sizeof(T) >= 4 ? 1 : count < 4 / (int)sizeof(T) ? count : 4 / (int)sizeof(T);
}
#define PITCH (SIDE + (sizeof(Target) >= 4 ? 1 : 4 / (int)sizeof(Target)))

extern "C" __global__ void transpose_tiles(const __grid_constant__ Tiles tiles) {
    alignas(16) __shared__ Target tile[SIDE * PITCH];
    const unsigned line = quotient(blockIdx.x, tiles.across_factor, tiles.across_shift);
    const unsigned column = (blockIdx.x - line * tiles.tiles_across) * SIDE;
    unsigned left = quotient(line, tiles.down_factor, tiles.down_shift);
    const unsigned row = (line - left * tiles.tiles_down) * SIDE;
    const Step down_step = (Step)tiles.down_step, across_step = (Step)tiles.across_step;
    Step to = (Step)row * down_step + column, from = (Step)column * across_step + row;
#pragma unroll
    for (int axis = 0; axis < RANK; ++axis) {
        const unsigned outer = quotient(left, tiles.factors[axis], tiles.shifts[axis]);
        const Step at = (Step)(left - outer * tiles.extents[axis]);
        to += at * (Step)tiles.to[axis];
        from += at * (Step)tiles.from[axis];
        left = outer;
    }
    const Source *const source = (const Source *)tiles.read + from;
    Target *const target = (Target *)tiles.written + to;
    const unsigned down = tiles.down - row, across = tiles.across - column;

    Value values[LOADS][IN_VECTOR];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
        const unsigned group = k * THREADS + threadIdx.x;
        const unsigned x = group / IN_GROUPS, y = group % IN_GROUPS * IN_VECTOR;
        if (x < SIDE && x < across && y < down) {
            load_vector<IN_VECTOR>(source + ((Step)x * across_step + y), values[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
        const unsigned group = k * THREADS + threadIdx.x;
        const unsigned x = group / IN_GROUPS, y = group % IN_GROUPS * IN_VECTOR;
        if (x < SIDE && x < across && y < down) {
            constexpr int WORD = per_word<Target>(IN_VECTOR);
#pragma unroll
            for (int i = 0; i < IN_VECTOR; i += WORD) {
                store_vector<WORD>(tile + x * PITCH + y + i, values[k] + i);
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < STORES; ++k) {
        const unsigned group = k * THREADS + threadIdx.x;
        const unsigned y = group / ABREAST % SIDE;
        const unsigned x = (group / (ABREAST * SIDE) * ABREAST + group % ABREAST) * OUT_VECTOR;
        if (x < SIDE && x < across && y < down) {
            Chunk<Target, OUT_VECTOR> chunk;
#pragma unroll
            for (int i = 0; i < OUT_VECTOR; ++i) chunk.item[i] = tile[(x + i) * PITCH + y];
            typedef typename Word<OUT_VECTOR * (int)sizeof(Target)>::Type Access;
            *(Access *)(target + ((Step)y * down_step + x)) = chunk.word;
        }
    }
}
