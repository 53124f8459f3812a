// Sums over the threads of a block, in an order that depends on nothing but their number.

typedef double Sum;

#define THREADS 256

// Adds up two numbers over lanes: threads whose numbers differ by multiples of ``apart``. The sums
// are in the first lane; part is shared memory of 2 * THREADS numbers.
__device__ inline void add_lanes(Sum *part, int lane, int lanes, int apart, Sum &first, Sum &second) {
    int here = threadIdx.x;
    part[here] = first;
    part[here + THREADS] = second;
    for (int half = lanes / 2; half; half /= 2) {
        __syncthreads();
        if (lane < half) {
            part[here] += part[here + half * apart];
            part[here + THREADS] += part[here + half * apart + THREADS];
        }
    }
    first = part[here];
    second = part[here + THREADS];
}
