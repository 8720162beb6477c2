/* What is computed for millions of pages at once. Pure functions over columns that belong to the caller: no memory is
 * taken, nothing is kept, and every place that is read or written follows from the lengths given.
 */
#ifndef WEBSTRATA_PREDICT_KERNEL_H
#define WEBSTRATA_PREDICT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

/* Of what Python knows of the functions; goes up with every change (kernel/library.py has the same). */
#define KERNEL_VERSION 1

/* For each of `pages`: its belief, `width` numbers, times the table of its day. There are `known` beliefs, `stride`
 * bytes from one to the next; `rows` says whose are asked for, NULL: the first ones. Each table has `width` rows of
 * four numbers, the day's for the four columns of the answer, which lie one behind the other; days beyond the last
 * have the last one's. Returns how many pages were answered for: fewer than all where a row is none. */
EXPORTED int64_t outlook(const char *beliefs, int64_t stride, int64_t known, const int64_t *rows, const int16_t *days,
                         int64_t pages, const float *tables, int64_t width, int64_t last_day, float *columns);

/* For each page the likeliest rate, from its visits `offsets[page]` to before `offsets[page + 1]`. `room` holds one
 * number more than any page has visits. */
EXPORTED void irregular_rates(const int64_t *offsets, int64_t pages, const double *lengths, const uint8_t *changed,
                              double *room, double *rates);

EXPORTED int32_t kernel_version(void);

#endif
