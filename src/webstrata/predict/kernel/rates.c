/* Eq. 5: the rate at which sum over intervals t with a change of t / (exp(rate t) - 1) = sum of intervals without.
 *
 * With L the left side and F = L + (sum of the t) / 2, both ln L (convex, decreasing) and 1 / F (concave, increasing)
 * are nearly linear, the first for long intervals, the second for short ones. From below, Newton's step on either stays
 * below the root, so the larger of the two steps is used. The start is the root for equal intervals, a lower bound.
 * After a few rounds in single precision, four intervals at a time, usually one round in double precision remains. */
#include <math.h>
#include <string.h>

#include "kernel.h"

#define ROUNDS 100
#define ROUGH_ROUNDS 4
#define NEARLY 1e-6 /* relative step after which the error, about its square, is negligible */
#define ROUGHLY 1e-4f
#define LARGEST 300.0
#define SMALL 0.1
#define ROOM 256 /* the rough rounds are used for at most this many intervals with a change */

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_whole __attribute__((vector_size(16)));

typedef struct {
    double total, still; /* days of intervals with a change, and of those without */
    int64_t seen;        /* intervals with a change */
} sums;

static inline double larger_step(double left, double slope, const sums *of) {
    double half = of->total / 2;
    double straight = (left + half) / (of->still + half) * (left - of->still);
    double steep = left * log(left / of->still);
    return (steep > straight ? steep : straight) / slope;
}

/* 1 / (exp(x) - 1); by its series for small x, where exp(x) - 1 would lose digits. */
static inline double odds(double x) {
    if (x < SMALL) {
        double square = x * x;
        return 1 / x - 0.5 + x * (1.0 / 12 - square * (1.0 / 720 - square * (1.0 / 30240 - square / 1209600)));
    }
    return 1 / (exp(x < LARGEST ? x : LARGEST) - 1);
}

static inline four all(float value) { return (four){value, value, value, value}; }

static inline four least_of(four one, four other) {
    four_whole first = one < other;
    return (four)(((four_whole)one & first) | ((four_whole)other & ~first));
}

/* The same with about four digits. exp(x) = 2^n exp(r), |r| <= ln 2 / 2. */
static inline four rough_odds(four x) {
    x = -least_of(-least_of(x, all(80)), all(-1e-4f));
    four_whole n = __builtin_convertvector(x * all(1.44269504f) + all(0.5f), four_whole);
    four r = x - __builtin_convertvector(n, four) * all(0.69314718f);
    four power = all(1.0f / 24) + r * all(1.0f / 120);
    power = all(1) + r * (all(1) + r * (all(0.5f) + r * (all(1.0f / 6) + r * power)));
    four scale = (four)((n + 127) << 23);
    return all(1) / (power * scale - all(1));
}

static double rough_root(const float *lengths, int64_t fours, double rate, const sums *of) {
    for (int round = 0; round < ROUGH_ROUNDS; round++) {
        four left = all(0), slope = all(0);
        for (int64_t at = 0; at < fours; at++) {
            four length;
            memcpy(&length, lengths + 4 * at, sizeof length);
            four odd = rough_odds(length * all((float)rate)), weighted = length * odd;
            left += weighted;
            slope += length * weighted * (all(1) + odd);
        }
        double step = larger_step(left[0] + left[1] + left[2] + left[3], slope[0] + slope[1] + slope[2] + slope[3], of);
        rate += step;
        if (!(fabs(step) > ROUGHLY * rate))
            break;
    }
    return rate;
}

static double root(const double *lengths, int64_t seen, double rate, const sums *of) {
    for (int round = 0; round < ROUNDS; round++) {
        double left = 0, slope = 0;
        for (int64_t at = 0; at < seen; at++) {
            double odd = odds(rate * lengths[at]), weighted = lengths[at] * odd;
            left += weighted;
            slope += lengths[at] * weighted * (1 + odd);
        }
        double step = larger_step(left, slope, of);
        rate += step;
        if (!(fabs(step) > NEARLY * rate))
            break;
    }
    return rate;
}

/* The rate of a page with intervals of both kinds; `lengths` are those with a change. */
static double rate_of(const double *lengths, const sums *of) {
    double seen = (double)of->seen, start = seen / of->total * log1p(of->total / of->still), begun = start;
    if (of->seen <= ROOM) {
        float rough[ROOM];
        int64_t fours = (of->seen + 3) / 4;
        for (int64_t at = 0; at < 4 * fours; at++) /* a length of 0 adds nothing */
            rough[at] = at < of->seen ? (float)lengths[at] : 0;
        begun = rough_root(rough, fours, start, of);
    }
    double found = root(lengths, of->seen, isfinite(begun) && begun > start ? begun : start, of);
    double least = seen / (of->still + of->total / 2), most = seen / of->still;
    return found < least ? least : found > most ? most : found;
}

EXPORTED void irregular_rates(const int64_t *offsets, int64_t pages, const double *lengths, const uint8_t *changed,
                              double *room, double *rates) {
    for (int64_t page = 0; page < pages; page++) {
        sums of = {0, 0, 0};
        for (int64_t visit = offsets[page]; visit < offsets[page + 1]; visit++) { /* without branches, which would be mispredicted */
            room[of.seen] = lengths[visit];
            of.seen += changed[visit] != 0;
            of.total += changed[visit] ? lengths[visit] : 0;
            of.still += changed[visit] ? 0 : lengths[visit];
        }
        if (offsets[page + 1] <= offsets[page])
            rates[page] = NAN;
        else if (!of.seen)
            rates[page] = 0;
        else if (of.still == 0) /* the likelihood has no maximum: eq. 4 */
            rates[page] = log(((double)of.seen + 0.5) / 0.5) * (double)of.seen / of.total;
        else
            rates[page] = rate_of(room, &of);
    }
}
