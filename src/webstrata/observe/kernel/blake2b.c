/* BLAKE2b (RFC 7693) with a digest of eight bytes and no key: the hash of link URLs. */
#include <string.h>

#include "kernel.h"

#define BLOCK 128

static const uint64_t START[8] = {0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
                                  0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u};

static const uint8_t ORDER[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotated(uint64_t x, int by) { return x >> by | x << (64 - by); }

__attribute__((always_inline)) static inline void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

static inline uint64_t word(const uint8_t *at) {
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

/* Unrolled, so that the order of the words is known at compile time: twice as fast as a loop. */
#define MIX(r, i, a, b, c, d) mix(v, a, b, c, d, words[ORDER[r][2 * i]], words[ORDER[r][2 * i + 1]])
#define ROUND(r)                                                                                                       \
    MIX(r, 0, 0, 4, 8, 12), MIX(r, 1, 1, 5, 9, 13), MIX(r, 2, 2, 6, 10, 14), MIX(r, 3, 3, 7, 11, 15),                  \
        MIX(r, 4, 0, 5, 10, 15), MIX(r, 5, 1, 6, 11, 12), MIX(r, 6, 2, 7, 8, 13), MIX(r, 7, 3, 4, 9, 14)

static void compress(uint64_t *state, const uint8_t *block, uint64_t bytes, int is_last) {
    uint64_t v[16], words[16];
    for (int i = 0; i < 16; i++)
        words[i] = word(block + 8 * i);
    memcpy(v, state, 64);
    memcpy(v + 8, START, 64);
    v[12] ^= bytes;
    if (is_last)
        v[14] = ~v[14];
    ROUND(0), ROUND(1), ROUND(2), ROUND(3), ROUND(4), ROUND(5);
    ROUND(6), ROUND(7), ROUND(8), ROUND(9), ROUND(0), ROUND(1);
    for (int i = 0; i < 8; i++)
        state[i] ^= v[i] ^ v[i + 8];
}

uint64_t blake64(const char *text, size_t length) {
    const uint8_t *at = (const uint8_t *)text;
    uint64_t state[8], bytes = 0;
    uint8_t last[BLOCK] = {0};
    memcpy(state, START, 64);
    state[0] ^= 0x01010000u | 8; /* no key, one leaf, eight bytes of digest */
    for (; length - bytes > BLOCK; at += BLOCK) {
        bytes += BLOCK;
        compress(state, at, bytes, 0);
    }
    memcpy(last, at, length - bytes);
    compress(state, last, length, 1);
    return state[0];
}
