/* Collects the different URLs and contacts of a page, the kinds of the URLs, their hashes, and the text that their
 * digest is computed of. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define MAX_LINKS 50000 /* results.py has the same numbers */
#define MAX_CONTACTS 1000

static int compare(slice one, slice other) {
    size_t shorter = one.length < other.length ? one.length : other.length;
    int found = memcmp(one.at, other.at, shorter);
    return found != 0 ? found : (one.length > other.length) - (one.length < other.length);
}

typedef struct {
    slice text; /* by which it is compared */
    slice url;  /* nothing for a contact */
    size_t order;
} link;

static int by_text(const void *one, const void *other) {
    const link *a = one, *b = other;
    int found = compare(a->text, b->text);
    if (found == 0)
        found = compare(a->url, b->url);
    return found != 0 ? found : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *one, const void *other) {
    const link *a = one, *b = other;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_hash(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* The links that have a URL; their texts are written to `texts`. Returns their number, -1: no memory left. */
static long gather(const links *of, const char *answers, size_t length, slice *answered, link *to, buffer *texts) {
    const target *targets = (const target *)of->targets.data;
    size_t number = of->targets.length / sizeof *targets, found = 0, room = 1;
    const char *at = answers, *end = answers + length;
    char *text;
    for (size_t i = 0; i < of->left; i++)
        answered[i] = next_text(&at, end);
    for (size_t i = 0; i < number; i++) {
        slice url = {of->resolved.data + targets[i].at, targets[i].length};
        if (url.length == 0)
            url = answered[targets[i].at];
        if (url.length != 0 && url.length <= LONGEST_URL) {
            link one = {{NULL, 0}, url, found};
            to[found++] = one;
            room += url.length + 1;
        }
    }
    text = tail(texts, room);
    if (text == NULL)
        return -1;
    for (size_t i = 0; i < found; i++) {
        to[i].text.at = text;
        to[i].text.length = link_text(to[i].url, text);
        text += to[i].text.length;
    }
    return (long)found;
}

/* The contacts; returns their number. */
static size_t gather_contacts(const links *of, link *to) {
    const char *at = of->written_contacts.data, *end = at + of->written_contacts.length;
    size_t found = 0;
    while (at < end) {
        link one = {next_text(&at, end), {"", 0}, found};
        to[found++] = one;
    }
    return found;
}

/* Keeps the first of equal links, sorted by text; returns their number. */
static size_t once(link *all, size_t number, size_t limit) {
    size_t kept = 0;
    qsort(all, number, sizeof *all, by_text);
    for (size_t i = 0; i < number; i++)
        if (i == 0 || compare(all[kept - 1].text, all[i].text) != 0 || compare(all[kept - 1].url, all[i].url) != 0)
            all[kept++] = all[i];
    if (kept > limit) {
        qsort(all, kept, sizeof *all, by_order);
        kept = limit;
        qsort(all, kept, sizeof *all, by_text);
    }
    return kept;
}

/* Writes the different texts of sorted links, and their hashes if requested. */
static int put_texts(links *to, const link *all, size_t number, int is_hashed) {
    uint64_t *hashes = is_hashed ? (uint64_t *)tail(&to->hashes, number * sizeof *hashes) : NULL;
    size_t kept = 0, different = 0;
    if (is_hashed && hashes == NULL)
        return 0;
    for (size_t i = 0; i < number; i++) {
        slice text = all[i].text;
        if (i != 0 && compare(all[i - 1].text, text) == 0)
            continue;
        if ((i != 0 && !put(&to->sorted_texts, "\n", 1)) || !put(&to->sorted_texts, text.at, text.length))
            return 0;
        if (is_hashed)
            hashes[different++] = blake64(text.at, text.length);
    }
    if (!is_hashed)
        return 1;
    qsort(hashes, different, sizeof *hashes, by_hash);
    for (size_t i = 0; i < different; i++)
        if (i == 0 || hashes[kept - 1] != hashes[i])
            hashes[kept++] = hashes[i];
    to->hashes.length = kept * sizeof *hashes;
    return 1;
}

/* Writes the URLs of links, or the texts of contacts, in the order of first appearance, each followed by a 0. */
static int put_ordered(buffer *to, const link *all, size_t number, slice *ordered, size_t orders) {
    memset(ordered, 0, orders * sizeof *ordered);
    for (size_t i = 0; i < number; i++)
        ordered[all[i].order] = all[i].url.length != 0 ? all[i].url : all[i].text;
    for (size_t i = 0; i < orders; i++)
        if (ordered[i].length != 0)
            if (!put(to, ordered[i].at, ordered[i].length) || !put(to, "", 1))
                return 0;
    return 1;
}

static size_t count_texts(const buffer *texts) {
    size_t number = 0;
    for (const char *at = texts->data, *end = at + texts->length; at < end; number++)
        next_text(&at, end);
    return number;
}

/* `answers` has the URL of each hard address, or nothing, each followed by a 0; `home` is the page's host. */
EXPORTED void links_finish(links *of, const char *answers, size_t length, const char *home, size_t home_length,
                           int is_hashed) {
    size_t room = of->targets.length / sizeof(target) + count_texts(&of->written_contacts) + 1;
    link *all = calloc(room, sizeof *all);
    slice *ordered = calloc(room, sizeof *ordered), home_slice = {home, home_length};
    buffer texts = {NULL, 0, 0};
    long found = all != NULL && ordered != NULL && of->status == READ
                     ? gather(of, answers, length, ordered, all, &texts)
                     : -1;
    if (found >= 0) {
        size_t number = once(all, (size_t)found, MAX_LINKS), written = gather_contacts(of, all + number);
        size_t contacts = once(all + number, written, MAX_CONTACTS);
        for (size_t i = 0; i < number; i++)
            count_link(of, all[i].url, home_slice);
        /* The texts of URLs begin with `https:`, those of contacts with `mailto:` or `tel:`: together they are sorted. */
        if (!put_texts(of, all, number + contacts, is_hashed) ||
            !put_ordered(&of->urls, all, number, ordered, (size_t)found) ||
            !put_ordered(&of->contacts, all + number, contacts, ordered, written))
            of->status = NO_MEMORY;
    } else
        of->status = NO_MEMORY;
    free(texts.data);
    free(all);
    free(ordered);
}

EXPORTED void links_free(links *of) {
    buffer *all[] = {&of->hard,     &of->urls,     &of->sorted_texts, &of->hashes,
                     &of->contacts, &of->resolved, &of->targets,      &of->written_contacts};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->data);
    free(of);
}
