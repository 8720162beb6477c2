/* The hash of each link, and the hash of its shape: the same text with numbers, tokens and long values masked.
 *
 * The rules are those of docs/reference/fingerprint.md, section 6; python_links.py implements the same functions.
 */
#include <string.h>

#include "kernel.h"

#define LONG_VALUE 24 /* bytes of a query parameter's value */

enum class { NEITHER, DIGIT, UPPER, LOWER };

static int class_of(char c) {
    return c >= '0' && c <= '9' ? DIGIT : c >= 'A' && c <= 'Z' ? UPPER : c >= 'a' && c <= 'z' ? LOWER : NEITHER;
}

static int is_hex(char c) { return class_of(c) == DIGIT || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

/* Whether a UUID begins here: hexadecimal digits in groups of 8, 4, 4, 4 and 12. */
static int is_uuid(const char *at, const char *end) {
    if (end - at < 36 || (end - at > 36 && class_of(at[36])))
        return 0;
    for (int i = 0; i < 36; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? at[i] != '-' : !is_hex(at[i]))
            return 0;
    return 1;
}

/* Whether a run of letters and digits is no word and no number: it changes often between digits and letters, or
 * between upper and lower case. */
static int is_random(const char *at, const char *end) {
    long length = end - at, changes = 0, digits = class_of(*at) == DIGIT;
    for (at++; at < end; at++) {
        changes += class_of(*at) != class_of(at[-1]);
        digits += class_of(*at) == DIGIT;
    }
    if (digits == 0)
        return length >= 20 && 2 * changes >= length;
    return digits < length && ((length >= 6 && 3 * changes >= length) || length >= 32);
}

static char *put_run(const char *at, const char *end, char *to) {
    if (is_random(at, end)) {
        *to++ = '0';
        return to;
    }
    for (const char *start = at; at < end; at++)
        if (class_of(*at) != DIGIT)
            *to++ = *at;
        else if (at == start || class_of(at[-1]) != DIGIT)
            *to++ = '0';
    return to;
}

/* Writes the shape of a link's text, which is never longer; contacts are not masked. */
static size_t put_shape(slice text, char *to) {
    const char *at = text.at, *end = text.at + text.length, *stop;
    char *out = to;
    int is_query = 0;
    if (!begins(text, "https://")) {
        memcpy(to, text.at, text.length);
        return text.length;
    }
    while (at < end) {
        if (class_of(*at)) {
            if (is_uuid(at, end)) {
                *out++ = '0';
                at += 36;
                continue;
            }
            for (stop = at; stop < end && class_of(*stop); stop++)
                ;
            out = put_run(at, stop, out);
            at = stop;
            continue;
        }
        is_query |= *at == '?';
        *out++ = *at++;
        if (is_query && at[-1] == '=') {
            stop = memchr(at, '&', (size_t)(end - at));
            stop = stop == NULL ? end : stop;
            if (stop - at >= LONG_VALUE) {
                *out++ = '0';
                at = stop;
            }
        }
    }
    return (size_t)(out - to);
}

/* CRC-32 as in zlib, four bits at a time. */
static uint32_t crc32(const char *at, size_t length) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                       0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t value = 0xFFFFFFFF;
    for (size_t i = 0; i < length; i++) {
        value ^= (unsigned char)at[i];
        value = value >> 4 ^ table[value & 15];
        value = value >> 4 ^ table[value & 15];
    }
    return ~value;
}

/* Writes a row of twelve bytes for each of some URLs and contacts: the hash of its text, the CRC-32 of its shape.
 * Each is followed by a 0; those that are empty or too long are left out. Returns the number of rows. */
EXPORTED size_t link_rows(const char *packed, size_t length, char *to) {
    const char *at = packed, *end = packed + length;
    char text[LONGEST_URL + 1], shape[LONGEST_URL + 1];
    size_t rows = 0;
    while (at < end) {
        slice one = next_text(&at, end), normal = {text, 0};
        uint64_t value;
        uint32_t masked;
        if (one.length == 0 || one.length > LONGEST_URL)
            continue;
        normal.length = link_text(one, text);
        value = blake64(text, normal.length);
        masked = crc32(shape, put_shape(normal, shape));
        memcpy(to, &value, sizeof value);
        memcpy(to + sizeof value, &masked, sizeof masked);
        to += sizeof value + sizeof masked;
        rows++;
    }
    return rows;
}
