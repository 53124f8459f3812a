// Philox4x32-10 (J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011), with the
// bits of gluonish/ops/support/philox.py: the counter's low half is the index of a block, its high
// half the key's offset, and Philox's key the seed.

struct Block {
    unsigned word[4];
};

__device__ inline Block philox(
    unsigned long long block, unsigned long long seed, unsigned long long offset) {
    unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32);
    unsigned c2 = (unsigned)offset, c3 = (unsigned)(offset >> 32);
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        unsigned low0 = 0xD2511F53u * c0, low1 = 0xCD9E8D57u * c2;
        unsigned high0 = __umulhi(0xD2511F53u, c0), high1 = __umulhi(0xCD9E8D57u, c2);
        c0 = high1 ^ c1 ^ k0;
        c2 = high0 ^ c3 ^ k1;
        c1 = low1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    Block made = {{c0, c1, c2, c3}};
    return made;
}
