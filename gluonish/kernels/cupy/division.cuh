// Division of a number below 2^31 by multiplication; `division` of copies.py gives the factor and
// the shift of a divisor.
__device__ inline unsigned quotient(unsigned number, unsigned factor, unsigned shift) {
    return (unsigned)((unsigned long long)number * factor >> shift);
}
