/* The simhash of words, 64 bits (docs/reference/fingerprint.md, "The simhash"). */
#include <string.h>

#include "kernel.h"

#define WORD_FACTOR 0x9E3779B1u
#define LOWER_FACTOR 0xC2B2AE3Du
#define UPPER_FACTOR 0x85EBCA77u
#define SHINGLE 3
#define FLUSH 255 /* shingles that counters of eight bits can count */

static uint32_t mixed(uint32_t h) {
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

/* Bits are counted in eight counters of eight bits per word: counter b of word i counts bit 8 b + i. */
typedef struct {
    uint64_t lanes[8];
    uint64_t counts[64];
    uint64_t number;
    unsigned pending;
} votes;

static void flush(votes *v) {
    for (int i = 0; i < 8; i++) {
        for (int lane = 0; lane < 8; lane++)
            v->counts[8 * lane + i] += v->lanes[i] >> 8 * lane & 0xFF;
        v->lanes[i] = 0;
    }
    v->pending = 0;
}

static void vote(votes *v, const uint32_t *hashes, int length) {
    uint32_t lower = 0, upper = 0;
    uint64_t hash;
    for (int i = 0; i < length; i++) {
        lower = lower * LOWER_FACTOR + hashes[i];
        upper = upper * UPPER_FACTOR + hashes[i];
    }
    hash = (uint64_t)mixed(upper) << 32 | mixed(lower);
    for (int i = 0; i < 8; i++)
        v->lanes[i] += hash >> i & 0x0101010101010101u;
    v->number++;
    if (++v->pending == FLUSH)
        flush(v);
}

/* The simhash of at least one word; words are separated by one space. */
EXPORTED uint64_t simhash(const char *text, size_t length) {
    votes v;
    uint32_t last[SHINGLE] = {0, 0, 0}, hash = 0;
    uint64_t found = 0, words = 0;
    memset(&v, 0, sizeof v);
    for (size_t i = 0; i <= length; i++) {
        if (i < length && text[i] != ' ') {
            hash = hash * WORD_FACTOR + (unsigned char)text[i];
            continue;
        }
        last[0] = last[1];
        last[1] = last[2];
        last[2] = hash;
        hash = 0;
        if (++words >= SHINGLE)
            vote(&v, last, SHINGLE);
    }
    if (words < SHINGLE)
        vote(&v, last + SHINGLE - words, (int)words);
    flush(&v);
    for (int bit = 0; bit < 64; bit++)
        found |= (uint64_t)(v.counts[bit] * 2 > v.number) << bit;
    return found;
}
