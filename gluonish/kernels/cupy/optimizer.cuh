// Functions of the kernels that update weights. The generated source before it defines Table, which
// is passed by value, BLOCK and LANES.

#include "lanes.cuh"
#include "vectors.cuh"

// As in NumPy, NaN of either operand gives NaN.
__device__ inline float minimum(float x, float y) { return x != x || x <= y ? x : y; }
__device__ inline float maximum(float x, float y) { return x != x || x >= y ? x : y; }

// The weight of a block: the first weight that ends after it.
__device__ inline unsigned owner_of(const Table &table, unsigned block) {
    unsigned low = 0, high = table.count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (table.ends[middle] <= block) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__device__ inline unsigned first_block(const Table &table, unsigned owner) {
    return owner ? table.ends[owner - 1] : 0;
}
