#include <string.h>

#include "kernel.h"

typedef float four __attribute__((vector_size(16)));

EXPORTED int32_t kernel_version(void) { return KERNEL_VERSION; }

EXPORTED int64_t forecast(const char *beliefs, int64_t stride, int64_t known, const int64_t *rows, const int16_t *days,
                          int64_t pages, const float *tables, int64_t width, int64_t last_day, float *columns) {
    for (int64_t page = 0; page < pages; page++) {
        int64_t row = rows ? rows[page] : page;
        if (row < 0 || row >= known)
            return page;
        const char *belief = beliefs + row * stride;
        int64_t day = days[page] < 0 ? 0 : days[page] > last_day ? last_day : days[page];
        const float *table = tables + day * width * 4;
        four sum = {0, 0, 0, 0};
        for (int64_t level = 0; level < width; level++) { /* in this order: the same sums on every machine */
            float share;
            four each;
            memcpy(&share, belief + level * sizeof share, sizeof share); /* rows of a state may be unaligned */
            memcpy(&each, table + level * 4, sizeof each);
            sum += (four){share, share, share, share} * each;
        }
        for (int column = 0; column < 4; column++)
            columns[column * pages + page] = sum[column];
    }
    return pages;
}
