// Functions of the kernels that update weights. The generated source before it defines Table, which
// is passed by value, BLOCK and LANES.

#include "lanes.cuh"
#include "vectors.cuh"
#include "tables.cuh"

// As in NumPy, NaN of either operand gives NaN.
__device__ inline float minimum(float x, float y) { return x != x || x <= y ? x : y; }
__device__ inline float maximum(float x, float y) { return x != x || x >= y ? x : y; }
