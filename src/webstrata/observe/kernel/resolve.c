/* Resolves the addresses of a page's links to URLs.
 *
 * Addresses that need no change except a prefix are resolved here. All others need the URL parser: the caller resolves
 * the addresses in `hard` and passes the results to `links_finish`.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define LONGEST_PLAIN 256

/* The parts of a URL in which a character needs no change. */
enum { SEGMENT = 1, FIRST = 2, QUERY = 4, HOST = 8 };
#define NAME (SEGMENT | FIRST | QUERY)

static const uint8_t CLASSES[256] = {
    ['0'] = NAME | HOST, ['1'] = NAME | HOST, ['2'] = NAME | HOST, ['3'] = NAME | HOST, ['4'] = NAME | HOST,
    ['5'] = NAME | HOST, ['6'] = NAME | HOST, ['7'] = NAME | HOST, ['8'] = NAME | HOST, ['9'] = NAME | HOST,
    ['a'] = NAME | HOST, ['b'] = NAME | HOST, ['c'] = NAME | HOST, ['d'] = NAME | HOST, ['e'] = NAME | HOST,
    ['f'] = NAME | HOST, ['g'] = NAME | HOST, ['h'] = NAME | HOST, ['i'] = NAME | HOST, ['j'] = NAME | HOST,
    ['k'] = NAME | HOST, ['l'] = NAME | HOST, ['m'] = NAME | HOST, ['n'] = NAME | HOST, ['o'] = NAME | HOST,
    ['p'] = NAME | HOST, ['q'] = NAME | HOST, ['r'] = NAME | HOST, ['s'] = NAME | HOST, ['t'] = NAME | HOST,
    ['u'] = NAME | HOST, ['v'] = NAME | HOST, ['w'] = NAME | HOST, ['x'] = NAME | HOST, ['y'] = NAME | HOST,
    ['z'] = NAME | HOST, ['-'] = NAME | HOST,
    ['A'] = NAME, ['B'] = NAME, ['C'] = NAME, ['D'] = NAME, ['E'] = NAME, ['F'] = NAME, ['G'] = NAME, ['H'] = NAME,
    ['I'] = NAME, ['J'] = NAME, ['K'] = NAME, ['L'] = NAME, ['M'] = NAME, ['N'] = NAME, ['O'] = NAME, ['P'] = NAME,
    ['Q'] = NAME, ['R'] = NAME, ['S'] = NAME, ['T'] = NAME, ['U'] = NAME, ['V'] = NAME, ['W'] = NAME, ['X'] = NAME,
    ['Y'] = NAME, ['Z'] = NAME, ['_'] = NAME, ['~'] = NAME,
    ['.'] = SEGMENT | QUERY, ['='] = QUERY, ['&'] = QUERY, ['%'] = QUERY, ['+'] = QUERY,
};

static inline int is_of(int class, char c) { return CLASSES[(unsigned char)c] & class; }

/* Whether a path has no empty segment, no segment that begins with a dot, and no character to encode. */
static int is_plain(const char *at, const char *end) {
    while (at < end && *at != '?') {
        if (!is_of(FIRST, *at))
            return 0;
        while (at < end && is_of(SEGMENT, *at))
            at++;
        if (at < end && *at == '/')
            at++;
        else if (at < end && *at != '?')
            return 0;
    }
    if (at == end)
        return 1;
    if (++at == end)
        return 0; /* a lone question mark */
    while (at < end && is_of(QUERY, *at))
        at++;
    return at == end;
}

/* The end of a host name that needs no change: lower case, nothing encoded, not a number. NULL: there is none. */
static const char *host_end(const char *at, const char *end) {
    const char *label = at;
    for (;; at++) {
        if (at < end && is_of(HOST, *at))
            continue;
        if (at == label || (at - label >= 4 && memcmp(label, "xn--", 4) == 0))
            return NULL;
        if (at < end && *at == '.') {
            label = at + 1;
            continue;
        }
        return *label >= 'a' && *label <= 'z' ? at : NULL;
    }
}

static int is_not_fetched(slice href) {
    static const char *const schemes[] = {"javascript:", "data:", "about:", "blob:"};
    if (href.at[0] == '#')
        return 1;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (begins(href, schemes[i]))
            return 1;
    return 0;
}

/* Adds a URL that consists of a prefix, a part of the address, and an end. */
static int resolve(links *to, slice front, slice rest, const char *closing) {
    target one = {to->resolved.length, front.length + rest.length + strlen(closing)};
    if (one.length > LONGEST_URL)
        return 1;
    return put(&to->resolved, front.at, front.length) && put(&to->resolved, rest.at, rest.length) &&
           put(&to->resolved, closing, strlen(closing)) && put(&to->targets, &one, sizeof one);
}

/* Leaves an address to the URL parser. */
static int leave(links *to, slice href) {
    target one = {to->left++, 0};
    return put(&to->hard, href.at, href.length) && put(&to->hard, "", 1) && put(&to->targets, &one, sizeof one);
}

static int add_address(links *to, slice href, slice root, slice folder) {
    const char *cut, *end, *host;
    slice nothing = {"", 0}, rest = href;
    int is_put;
    if (href.length == 0 || is_not_fetched(href))
        return 1;
    if (read_contact(href, &to->written_contacts, &is_put))
        return is_put;
    cut = memchr(href.at, '#', href.length);
    rest.length = cut == NULL ? href.length : (size_t)(cut - href.at);
    end = rest.at + rest.length;
    if (rest.length > LONGEST_PLAIN)
        return leave(to, href);
    if (rest.at[0] == '/') {
        rest.at++;
        rest.length--;
        return root.length && is_plain(rest.at, end) ? resolve(to, root, rest, "") : leave(to, href);
    }
    if (begins(rest, "http://") || begins(rest, "https://")) {
        const char *start = rest.at + (rest.at[4] == ':' ? 7 : 8);
        host = host_end(start, end);
        if (host != NULL && host == end)
            return resolve(to, nothing, rest, "/");
        return host != NULL && *host == '/' && is_plain(host + 1, end) ? resolve(to, nothing, rest, "")
                                                                         : leave(to, href);
    }
    if (rest.at[0] == '?' || folder.length == 0 || folder.length > LONGEST_PLAIN || !is_plain(rest.at, end))
        return leave(to, href);
    return resolve(to, folder, rest, "");
}

/* `spans` selects addresses by index, in order; NULL selects all. An empty root or folder cannot be a prefix. */
EXPORTED links *links_read(const char *hrefs, size_t length, const span *spans, size_t number, const char *root,
                           size_t root_length, const char *folder, size_t folder_length) {
    links *to = calloc(1, sizeof *to);
    const char *at = hrefs, *end = hrefs + length;
    slice root_slice = {root, root_length}, folder_slice = {folder, folder_length};
    size_t current = 0;
    if (to == NULL)
        return NULL;
    for (int32_t index = 0; at < end && index < INT32_MAX; index++) {
        slice href = next_text(&at, end);
        if (spans != NULL) {
            while (current < number && index >= spans[current].end)
                current++;
            if (current == number)
                break;
            if (index < spans[current].first)
                continue;
        }
        if (!add_address(to, href, root_slice, folder_slice)) {
            to->status = NO_MEMORY;
            break;
        }
    }
    return to;
}
