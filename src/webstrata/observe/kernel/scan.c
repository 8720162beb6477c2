/* The text of markup without building a tree, with a line feed where a line ends; used for very large pages.
 *
 * A tag is `<`, an optional slash, a name, and everything up to the next `<` or `>`. Each is replaced by a marker: a line
 * feed, a space, or that an element started or ended; a start and an end next to each other become a space.
 */
#include <string.h>

#include "kernel.h"

enum { STARTED = 1, ENDED = 2 };

/* Length in bytes of the Unicode white space character that begins here; 0: none. */
static size_t white(const unsigned char *at, const unsigned char *end) {
    static const char wide[][4] = {"\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                   "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f",
                                   "\u3000"};
    if (is_blank(*at) || (*at >= 0x1C && *at <= 0x1F))
        return 1;
    if (*at == 0xC2 && end - at > 1)
        return at[1] == 0x85 || at[1] == 0xA0 ? 2 : 0;
    if (*at >= 0xE1 && *at <= 0xE3 && end - at > 2)
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
            if (!memcmp(at, wide[i], 3))
                return 3;
    return 0;
}

static char lowered(char c) { return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

static int is_letter(unsigned char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

#define LONGEST 16

/* The name in lower case, cut at the length of the longest known name; the Kelvin sign is a K, as in Python. */
static size_t lower(const unsigned char *at, const unsigned char *end, char *to) {
    size_t length = 0;
    while (at < end && length < LONGEST) {
        if (end - at > 2 && !memcmp(at, "\u212a", 3)) {
            to[length++] = 'k';
            at += 3;
        } else {
            to[length++] = lowered((char)*at);
            at++;
        }
    }
    return length;
}

static int leaves_space(const char *name, size_t length) {
    static const char *const names[] = {"area", "embed", "img", "input", "source", "track", "wbr"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return 1;
    return 0;
}

/* The marker of a tag, 0: none; `at` is the position after its `<`. */
static char marker(const unsigned char *at, const unsigned char *end) {
    char name[LONGEST];
    const unsigned char *start;
    size_t length;
    int is_end = at < end && *at == '/';
    start = at += is_end;
    if (at >= end || !is_letter(*at))
        return 0;
    while (at < end && *at != '/' && *at != '<' && *at != '>' && !white(at, end))
        at++;
    length = lower(start, at, name);
    if (length < LONGEST && is_line_end(name, length))
        return '\n';
    if (length < LONGEST && leaves_space(name, length))
        return ' ';
    return is_end ? ENDED : STARTED;
}

/* Replaces each `first` followed by `second` with a space; returns the new length. */
static size_t join(char *text, size_t length, char first, char second) {
    size_t to = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] == first && i + 1 < length && text[i + 1] == second) {
            text[to++] = ' ';
            i++;
        } else
            text[to++] = text[i];
    return to;
}

static size_t drop_markers(char *text, size_t length) {
    size_t to = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] != STARTED && text[i] != ENDED)
            text[to++] = text[i];
    return to;
}

/* Whether a comment or an invisible element may begin somewhere. */
EXPORTED int may_hide(const char *text, size_t length) {
    static const char *const starts[] = {"!--",     "script", "style", "noscript", "template",
                                         "iframe", "noembed", "noframes"};
    const char *end = text + length;
    for (const char *at = text; at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL;) {
        at++;
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            size_t size, same = 0;
            if (at < end && lowered(*at) != *starts[i])
                continue;
            size = strlen(starts[i]);
            while (same < size && (size_t)(end - at) > same && lowered(at[same]) == starts[i][same])
                same++;
            if (same == size)
                return 1;
        }
    }
    return 0;
}

/* Writes the text to `to`, which has room for `length` bytes; returns its length. */
EXPORTED size_t scan_text(const char *text, size_t length, char *to) {
    const unsigned char *at = (const unsigned char *)text, *end = at + length;
    char *out = to;
    size_t size;
    while (at < end) {
        unsigned char next = at + 1 < end ? at[1] : 0;
        if (*at == '<' && (is_letter(next) || next == '/' || next == '!' || next == '?')) {
            char left = marker(at + 1, end);
            if (left)
                *out++ = left;
            at += 2; /* what follows the slash is not a name, or was handled by `marker` */
            while (at < end && *at != '<' && *at != '>')
                at++;
            at += at < end && *at == '>';
        } else {
            *out++ = (char)(*at == '\n' ? ' ' : *at);
            at++;
        }
    }
    size = join(to, (size_t)(out - to), ENDED, STARTED);
    size = join(to, size, STARTED, ENDED);
    return drop_markers(to, size);
}
