// Sums over the threads of a block, in an order that depends on their number only.

typedef double Sum;

#define THREADS 256

// Reduces two numbers over lanes: threads whose indices differ by multiples of ``stride``. The sums
// are in the first lane; ``partial`` is shared memory of 2 * THREADS numbers.
__device__ inline void add_lanes(Sum *partial, int lane, int lanes, int stride, Sum &first, Sum &second) {
    int here = threadIdx.x;
    partial[here] = first;
    partial[here + THREADS] = second;
    for (int half = lanes / 2; half; half /= 2) {
        __syncthreads();
        if (lane < half) {
            partial[here] += partial[here + half * stride];
            partial[here + THREADS] += partial[here + half * stride + THREADS];
        }
    }
    first = partial[here];
    second = partial[here + THREADS];
}
