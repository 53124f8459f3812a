// Sets several arrays to zero in one launch. CHUNK: bytes per block. MOST: arrays per Table.
#define THREADS 256

struct Table {
    unsigned long long written[MOST], sizes[MOST];  // addresses, and sizes in bytes
    unsigned ends[MOST], count;
};
#include "tables.cuh"

extern "C" __global__ void fill_zeros(const __grid_constant__ Table table) {
    const unsigned owner = owner_of(table, blockIdx.x);
    const unsigned long long first =
        (unsigned long long)(blockIdx.x - first_block(table, owner)) * CHUNK;
    const unsigned long long left = table.sizes[owner] - first;
    const unsigned count = left < CHUNK ? (unsigned)left : CHUNK;
    unsigned char *target = (unsigned char *)table.written[owner] + first;
    unsigned done = 0;
    if ((unsigned long long)target % 16 == 0) {
        done = count / 16 * 16;
        for (unsigned i = threadIdx.x; i < count / 16; i += THREADS) {
            ((uint4 *)target)[i] = make_uint4(0, 0, 0, 0);
        }
    }
    for (unsigned i = done + threadIdx.x; i < count; i += THREADS) target[i] = 0;
}
