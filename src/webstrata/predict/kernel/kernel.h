/* The compiled kernel of `predict`: pure functions over columns of the caller, for millions of pages at once. They
 * allocate no memory, keep no state, and access the columns only within the lengths given.
 */
#ifndef WEBSTRATA_PREDICT_KERNEL_H
#define WEBSTRATA_PREDICT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

/* The version of the functions; increase it with every change (library.py has the same number). */
#define KERNEL_VERSION 3

/* For each of `pages`: its forecast at the age `at`, the product of its belief, `width` numbers, and the table of the
 * last of the `size` ascending `ages` that is not above `at`. There are `known` beliefs, `stride` bytes apart; `rows` are
 * the pages' rows, NULL: the first ones. The ages consist of `part_count` parts of three numbers: the first age, steps per
 * day, and the index of the first age. Each table has `width` rows of eight numbers. The ten columns of the result are
 * stored one after the other: the age of the table, the next age, and one for each of the eight numbers. Returns the
 * number of pages computed: fewer than all if a row is outside the beliefs. */
EXPORTED int64_t forecast(const char *beliefs, int64_t stride, int64_t known, const int64_t *rows, const double *at,
                          int64_t pages, const double *parts, int64_t part_count, const double *ages, int64_t size,
                          const float *tables, int64_t width, float *columns);

/* For each page the maximum-likelihood rate, from its visits `offsets[page]` to before `offsets[page + 1]`. `room` has
 * space for one number more than the visits of any page. */
EXPORTED void irregular_rates(const int64_t *offsets, int64_t pages, const double *lengths, const uint8_t *changed,
                              double *room, double *rates);

EXPORTED int32_t kernel_version(void);

#endif
