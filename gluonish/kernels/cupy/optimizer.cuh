// What the kernels that update weights share. The generated part before it defines Table, which is
// passed by value, THREADS, BLOCK and LANES.

// As NumPy: NaN of either is NaN.
__device__ inline float minimum(float x, float y) { return x != x || x <= y ? x : y; }
__device__ inline float maximum(float x, float y) { return x != x || x >= y ? x : y; }

// The weight that a block works on: the first one that ends behind it.
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

// A sum in an order that depends on nothing but the count.
__device__ inline double sum_of(const double *first, unsigned count, unsigned stride) {
    double sums[8] = {};
    unsigned i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int k = 0; k < 8; ++k) sums[k] += first[(Offset)(i + k) * stride];
    }
    for (; i < count; ++i) sums[0] += first[(Offset)i * stride];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Each block's sum of what its threads left, for each of several expressions.
extern "C" __global__ void sum_threads(
    const double *parts, double *sums, unsigned blocks, unsigned expressions
) {
    const unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    for (unsigned i = 0; i < expressions; ++i) {
        const double *first = parts + (Offset)i * THREADS * blocks + block;
        sums[(Offset)i * blocks + block] = sum_of(first, THREADS, blocks);
    }
}
