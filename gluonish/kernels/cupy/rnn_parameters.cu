// Copies of several arrays in one launch. MOST: number of arrays in a Table. BLOCK: elements that a
// block of threads copies.
struct Table {
    unsigned long long written[MOST], read[MOST];
    long long sizes[MOST];
    unsigned ends[MOST];  // number of blocks up to the end of each array
    unsigned count;
};

struct alignas(16) Vector {
    Scalar part[16 / sizeof(Scalar)];
};

extern "C" __global__ void copy_arrays(const __grid_constant__ Table table) {
    unsigned owner = 0;
    while (owner + 1 < table.count && table.ends[owner] <= blockIdx.x) ++owner;
    const unsigned first = owner ? table.ends[owner - 1] : 0;
    const Offset start = (Offset)(blockIdx.x - first) * BLOCK;
    const Offset rest = table.sizes[owner] - start;
    const int size = rest < BLOCK ? (int)rest : BLOCK;
    const Scalar *source = (const Scalar *)table.read[owner] + start;
    Scalar *target = (Scalar *)table.written[owner] + start;
    const int lanes = 16 / sizeof(Scalar);
    // BLOCK is a multiple of the lanes, so that all blocks of an array are aligned alike.
    const bool aligned = !((table.read[owner] | table.written[owner]) & 15);
    const int vectors = aligned ? size / lanes : 0;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x)
        ((Vector *)target)[i] = ((const Vector *)source)[i];
    for (int i = vectors * lanes + threadIdx.x; i < size; i += blockDim.x) target[i] = source[i];
}
