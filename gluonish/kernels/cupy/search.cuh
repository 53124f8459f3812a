// The number of sorted rows below ``limit``.
__device__ inline unsigned rows_below(const unsigned *rows, unsigned size, unsigned limit) {
    unsigned low = 0, high = size;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (rows[middle] < limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
