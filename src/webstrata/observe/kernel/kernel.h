/* What reads a page's markup and words fast. Pure functions over bytes: no input and output, no clock, no state.
 *
 * Every function takes any bytes whatever: all reads are bounded, nothing recurses, and the work grows with the length
 * of the input alone. The rules are those of docs/reference/fingerprint.md; tests/observe/twin says them in Python.
 */
#ifndef WEBSTRATA_KERNEL_H
#define WEBSTRATA_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Of what Python knows of the functions and fields; goes up with every change (kernel/library.py has the same). */
#define KERNEL_VERSION 2

/* Bytes, or rows of anything, that grow. */
typedef struct {
    char *data;
    size_t length, room;
} buffer;

int put(buffer *to, const void *data, size_t length); /* 0: no memory left */
char *tail(buffer *to, size_t room);                  /* room behind the end, to be added to the length; NULL: none */

static inline int is_blank(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Names of elements: what each does to the lines and boxes around it. Higher kinds end lines. */
enum kind { INLINE, SILENT, POINTER, LINK, LINE, BOX };
enum tag { OTHER, ASIDE, MARGIN, LAYOUT, SECTION, MAIN, ARTICLE }; /* of boxes; a `section` is LAYOUT and SECTION */
#define IS_SECTION 8

typedef struct {
    uint8_t kind, tag;
    uint8_t is_raw;     /* its content is serialised as it stands */
    uint8_t is_void;    /* it has neither content nor end tag */
    uint8_t is_foreign; /* other rules hold for the names inside */
} name_facts;

name_facts facts_of(const char *name, size_t length);
int is_line_end(const char *lower, size_t length);

typedef struct {
    int32_t tag, parent;
    int32_t first_line, end_line, first_link, end_link;
    int32_t first_piece, end_piece; /* of text inside links */
    int64_t text, link_text, own_text;
} box;

typedef struct {
    int32_t first, end;
} span;

enum status { READ, UNCLEAR, NO_MEMORY };

/* A body, as far as it is known. Python reads the fields down to `boxes` (kernel/library.py has the same list). */
typedef struct {
    int32_t status;
    int32_t is_composed; /* all text is surely in Unicode's composed form */
    buffer text;         /* words one space apart; before `page_finish`: texts as they stand, 0 where lines end */
    buffer linked;       /* texts inside links, a 0 behind each */
    buffer hrefs;        /* of links, a 0 behind each */
    buffer pointers;     /* of image maps and inline frames */
    buffer line_ends;    /* int32_t */
    buffer main_lines;   /* span: of the main content, without the noise in it */
    buffer main_links;   /* span */
    buffer boxes;        /* box */
    int32_t lines, links, pieces;
} page;

void divide(page *of); /* fills main_lines and main_links */

uint64_t blake64(const char *text, size_t length); /* BLAKE2b; the digest of eight bytes, lowest first */

#define LONGEST_URL 2600 /* urls.py has the same */

typedef struct {
    const char *at;
    size_t length;
} slice;

static inline int begins(slice text, const char *with) {
    size_t length = strlen(with);
    return text.length >= length && memcmp(text.at, with, length) == 0;
}

/* The next text of a buffer with a 0 behind each. */
static inline slice next_text(const char **at, const char *end) {
    const char *stop = memchr(*at, 0, (size_t)(end - *at));
    slice found = {*at, (size_t)((stop == NULL ? end : stop) - *at)};
    *at = stop == NULL ? end : stop + 1;
    return found;
}

/* Where a link leads: its URL begins there in `resolved`; or, with no length, it is the answer of that number. */
typedef struct {
    size_t at, length;
} target;

/* The links of a page. Python reads the fields down to `resolved` (kernel/library.py has the same list). */
typedef struct {
    int32_t status;
    int32_t internal, external, documents;
    buffer hard;     /* addresses left to the caller, a 0 behind each */
    buffer urls;     /* in the order of first appearance, a 0 behind each */
    buffer places;   /* sorted, a line feed between them */
    buffer hashes;   /* uint64_t, sorted */
    buffer resolved; /* URLs put together here */
    buffer targets;  /* target */
    size_t left;     /* number of hard ones */
} links;

void count_link(links *to, slice url, slice home); /* by where it leads */
size_t without_tracking(slice url, char *to);              /* writes it without what only says who sent the reader */

#endif
