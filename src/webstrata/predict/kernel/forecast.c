#include <math.h>
#include <string.h>

#include "kernel.h"

typedef float four __attribute__((vector_size(16)));

EXPORTED int32_t kernel_version(void) { return KERNEL_VERSION; }

/* The index of the last age of the grid that is not above `age`. */
static inline int64_t cell_of(double age, const double *parts, int64_t part_count, const double *ages, int64_t size) {
    if (!(age > 0))
        return 0; /* also if it is not a number */
    if (age >= ages[size - 1])
        return size - 1;
    const double *part = parts + 3 * (part_count - 1);
    while (part > parts && age < part[0])
        part -= 3;
    int64_t cell = (int64_t)part[2] + (int64_t)((age - part[0]) * part[1]);
    return cell < size ? cell : size - 1;
}

EXPORTED int64_t forecast(const char *beliefs, int64_t stride, int64_t known, const int64_t *rows, const double *at,
                          int64_t pages, const double *parts, int64_t part_count, const double *ages, int64_t size,
                          const float *tables, int64_t width, float *columns) {
    for (int64_t page = 0; page < pages; page++) {
        int64_t row = rows ? rows[page] : page;
        if (row < 0 || row >= known)
            return page;
        const char *belief = beliefs + row * stride;
        int64_t cell = cell_of(at[page], parts, part_count, ages, size);
        const float *table = tables + cell * width * 8;
        four values = {0, 0, 0, 0}, slopes = {0, 0, 0, 0};
        for (int64_t level = 0; level < width; level++) { /* in this order: the same sums on every machine */
            float share;
            four value, slope;
            memcpy(&share, belief + level * sizeof share, sizeof share); /* rows of a state may be unaligned */
            memcpy(&value, table + level * 8, sizeof value);
            memcpy(&slope, table + level * 8 + 4, sizeof slope);
            four shares = {share, share, share, share};
            values += shares * value;
            slopes += shares * slope;
        }
        columns[page] = (float)ages[cell];
        columns[pages + page] = cell + 1 < size ? (float)ages[cell + 1] : INFINITY;
        for (int column = 0; column < 4; column++) {
            columns[(column + 2) * pages + page] = values[column];
            columns[(column + 6) * pages + page] = slopes[column];
        }
    }
    return pages;
}
