// A sum in one launch: the last block to finish adds what the others stored.
//
// ``counters`` are zeros between kernels, and belong to the stream (last_block.py). Which block is
// the last depends on time, but not what it adds, nor in which order.

#define FAN 32  // partial sums that one block adds, as in last_block.py

// Whether all other of ``members`` blocks have come here before, and stored what they have; the
// counter is zero again if so. All threads of a block take part.
__device__ inline bool is_last(unsigned *counter, int members) {
    __shared__ bool found;
    __syncthreads();  // the block's stores are before thread 0's fence
    if (threadIdx.x == 0) {
        __threadfence();
        found = atomicInc(counter, (unsigned)members - 1) == (unsigned)members - 1;
        __threadfence();
    }
    __syncthreads();
    return found;
}
