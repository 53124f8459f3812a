// Functions of kernels whose blocks are divided among several arrays. The source before it defines
// Table, which is passed by value: ``ends`` has the end block of each array, ``count`` their number.

// The array of a block: the first one that ends after it.
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
