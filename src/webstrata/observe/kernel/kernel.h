/* The compiled kernel of `observe`: pure functions over bytes, without input and output, clock and state.
 *
 * Every function accepts any bytes: all reads are bounded, nothing recurses, and the work is linear in the length of
 * the input. The rules are those of docs/reference/fingerprint.md; python.py implements the same functions in Python.
 */
#ifndef WEBSTRATA_KERNEL_H
#define WEBSTRATA_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* The version of the functions and fields; increase it with every change (library.py has the same number). */
#define KERNEL_VERSION 3

/* A growing array of bytes or rows. */
typedef struct {
    char *data;
    size_t length, room;
} buffer;

int put(buffer *to, const void *data, size_t length); /* 0: no memory left */
char *tail(buffer *to, size_t room);                  /* room after the end, to be added to the length; NULL: none */

static inline int is_blank(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The kinds of elements by their effect on lines and boxes. Kinds from LINE on end lines. */
enum kind { INLINE, SILENT, POINTER, LINK, LINE, BOX };
/* The groups of boxes by their names; a box may be in several. */
enum tag { ASIDE = 1, MARGIN = 2, LAYOUT = 4, SECTION = 8, MAIN = 16, ARTICLE = 32, CAPTION = 64, ADDED = 128 };
/* The lists of words with which the names of a box (class, id, role) begin. */
enum words { REMARK = 1, ADDITION = 2 };

typedef struct {
    uint8_t kind, tag;
    uint8_t is_raw;     /* its content is serialised without escapes */
    uint8_t is_void;    /* it has no content and no end tag */
    uint8_t is_foreign; /* other rules apply to the names inside */
} name_facts;

name_facts facts_of(const char *name, size_t length);
int is_line_end(const char *lower, size_t length);
int words_in(const char *names, const char *end); /* the sum of the lists */

typedef struct {
    int32_t tag, words, parent;
    int32_t first_line, end_line, first_link, end_link;
    int32_t first_piece, end_piece; /* of text inside links */
    int64_t text, link_text, own_text;
} box;

typedef struct {
    int32_t first, end;
} span;

enum status { READ, UNCLEAR, NO_MEMORY };

/* A body. Python accesses the fields down to `main_links` (library.py has the same list). */
typedef struct {
    int32_t status;
    int32_t is_composed; /* all text is known to be in Unicode's composed form */
    buffer text;         /* words separated by one space; before `page_finish`: texts with a 0 where a line ends */
    buffer linked;       /* texts inside links, each followed by a 0 */
    buffer hrefs;        /* of links, each followed by a 0 */
    buffer pointers;     /* of image maps and inline frames */
    buffer line_ends;    /* int32_t */
    buffer main_lines;   /* span: of the main content, without the noise inside it */
    buffer body_lines;   /* span: of the text in it, without additions */
    buffer main_links;   /* span */
    buffer boxes;        /* box */
    buffer line_pieces;  /* int32_t: texts inside links before the end of each line */
    int32_t lines, links, pieces;
} page;

/* A division of the boxes into main content and noise. */
enum state { IN, NOISE, INSIDE_NOISE };
typedef struct {
    const box *boxes;
    int32_t number, start, end; /* the start box; the boxes inside it end before `end` */
    int32_t main;               /* the main box */
    uint8_t *states, *in_section;
    int64_t *kept, *lost;
} division;

void select_main(page *of, const int64_t *own_before); /* fills main_lines, main_links and body_lines */
int select_body(page *of, const division *d, const int64_t *own_before); /* fills body_lines; 0: no memory left */
int32_t end_inside(const division *d, int32_t start); /* the end of the boxes inside a box */

uint64_t blake64(const char *text, size_t length); /* BLAKE2b, a digest of eight bytes, little-endian */

#define LONGEST_URL 2600 /* urls.py has the same */

typedef struct {
    const char *at;
    size_t length;
} slice;

static inline int begins(slice text, const char *with) {
    size_t length = strlen(with);
    return text.length >= length && memcmp(text.at, with, length) == 0;
}

/* The next text of a buffer in which each is followed by a 0. */
static inline slice next_text(const char **at, const char *end) {
    const char *stop = memchr(*at, 0, (size_t)(end - *at));
    slice found = {*at, (size_t)((stop == NULL ? end : stop) - *at)};
    *at = stop == NULL ? end : stop + 1;
    return found;
}

/* The URL of a link: its position and length in `resolved`; with length 0, the index of its answer. */
typedef struct {
    size_t at, length;
} target;

/* The links of a page. Python accesses the fields down to `resolved` (library.py has the same list). */
typedef struct {
    int32_t status;
    int32_t internal, external, documents;
    buffer hard;     /* addresses left to the caller, each followed by a 0 */
    buffer urls;     /* in the order of first appearance, each followed by a 0 */
    buffer sorted_texts; /* by which links and contacts are compared, separated by line feeds */
    buffer hashes;   /* of these texts: uint64_t, sorted */
    buffer contacts; /* in the order of first appearance, each followed by a 0 */
    buffer resolved; /* URLs resolved by the kernel */
    buffer targets;  /* target */
    buffer written_contacts; /* with duplicates, each followed by a 0 */
    size_t left;     /* number of hard addresses */
} links;

void count_link(links *to, slice url, slice home); /* by its kind */
size_t link_text(slice url, char *to);             /* the text by which a URL is compared; link_spelling.c */
int read_contact(slice href, buffer *to, int *is_put);

#endif
