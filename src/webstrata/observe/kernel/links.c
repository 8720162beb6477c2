/* Collects the different URLs of a page, their kinds, their hashes, and the text that their digest is computed of. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define MAX_LINKS 50000 /* results.py has the same number */

static int compare(slice one, slice other) {
    size_t shorter = one.length < other.length ? one.length : other.length;
    int found = memcmp(one.at, other.at, shorter);
    return found != 0 ? found : (one.length > other.length) - (one.length < other.length);
}

typedef struct {
    slice url;
    size_t order;
} link;

static int by_url(const void *one, const void *other) {
    const link *a = one, *b = other;
    int found = compare(a->url, b->url);
    return found != 0 ? found : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *one, const void *other) {
    const link *a = one, *b = other;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_text(const void *one, const void *other) { return compare(*(const slice *)one, *(const slice *)other); }

static int by_hash(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* The links that have a URL; returns their number. */
static size_t gather(const links *of, const char *answers, size_t length, slice *answered, link *to) {
    const target *targets = (const target *)of->targets.data;
    size_t number = of->targets.length / sizeof *targets, found = 0;
    const char *at = answers, *end = answers + length;
    for (size_t i = 0; i < of->left; i++)
        answered[i] = next_text(&at, end);
    for (size_t i = 0; i < number; i++) {
        slice url = {of->resolved.data + targets[i].at, targets[i].length};
        if (url.length == 0)
            url = answered[targets[i].at];
        if (url.length != 0 && url.length <= LONGEST_URL) {
            link one = {url, found};
            to[found++] = one;
        }
    }
    return found;
}

/* Keeps the first link of each URL, sorted by URL; returns their number. */
static size_t once(link *all, size_t number) {
    size_t kept = 0;
    qsort(all, number, sizeof *all, by_url);
    for (size_t i = 0; i < number; i++)
        if (i == 0 || compare(all[kept - 1].url, all[i].url) != 0)
            all[kept++] = all[i];
    if (kept > MAX_LINKS) {
        qsort(all, kept, sizeof *all, by_order);
        kept = MAX_LINKS;
        qsort(all, kept, sizeof *all, by_url);
    }
    return kept;
}

static int put_sorted_urls(links *to, const link *all, size_t number, slice *shortened) {
    buffer texts = {NULL, 0, 0};
    size_t room = 0, kept = 0;
    char *text;
    int is_shortened = 0, is_put = 1;
    for (size_t i = 0; i < number; i++)
        room += all[i].url.length;
    text = tail(&texts, room + 1);
    if (text == NULL)
        return 0;
    for (size_t i = 0; i < number; i++) {
        slice one = {text, without_tracking(all[i].url, text)};
        is_shortened |= one.length != all[i].url.length;
        shortened[i] = one;
        text += one.length;
    }
    if (is_shortened)
        qsort(shortened, number, sizeof *shortened, by_text);
    for (size_t i = 0; is_put && i < number; i++)
        if (i == 0 || compare(shortened[kept - 1], shortened[i]) != 0) {
            is_put = (kept == 0 || put(&to->sorted_urls, "\n", 1)) &&
                     put(&to->sorted_urls, shortened[i].at, shortened[i].length);
            shortened[kept++] = shortened[i];
        }
    free(texts.data);
    return is_put;
}

static int put_hashes(links *to, const link *all, size_t number) {
    uint64_t *hashes = (uint64_t *)tail(&to->hashes, number * sizeof *hashes);
    size_t kept = 0;
    if (hashes == NULL)
        return 0;
    for (size_t i = 0; i < number; i++)
        hashes[i] = blake64(all[i].url.at, all[i].url.length);
    qsort(hashes, number, sizeof *hashes, by_hash);
    for (size_t i = 0; i < number; i++)
        if (i == 0 || hashes[kept - 1] != hashes[i])
            hashes[kept++] = hashes[i];
    to->hashes.length = kept * sizeof *hashes;
    return 1;
}

static int put_urls(links *to, const link *all, size_t number, slice *ordered, size_t orders) {
    memset(ordered, 0, orders * sizeof *ordered);
    for (size_t i = 0; i < number; i++)
        ordered[all[i].order] = all[i].url;
    for (size_t i = 0; i < orders; i++)
        if (ordered[i].length != 0)
            if (!put(&to->urls, ordered[i].at, ordered[i].length) || !put(&to->urls, "", 1))
                return 0;
    return 1;
}

/* `answers` has the URL of each hard address, or nothing, each followed by a 0; `home` is the page's host. */
EXPORTED void links_finish(links *of, const char *answers, size_t length, const char *home, size_t home_length,
                           int is_hashed) {
    size_t found, number = of->targets.length / sizeof(target);
    link *all = calloc(number + 1, sizeof *all);
    slice *texts = calloc(number + 1, sizeof *texts), home_slice = {home, home_length};
    if (all != NULL && texts != NULL && of->status == READ) {
        found = gather(of, answers, length, texts, all);
        number = once(all, found);
        for (size_t i = 0; i < number; i++)
            count_link(of, all[i].url, home_slice);
        if (!put_sorted_urls(of, all, number, texts) || !put_urls(of, all, number, texts, found) ||
            (is_hashed && !put_hashes(of, all, number)))
            of->status = NO_MEMORY;
    } else
        of->status = NO_MEMORY;
    free(all);
    free(texts);
}

EXPORTED void links_free(links *of) {
    buffer *all[] = {&of->hard, &of->urls, &of->sorted_urls, &of->hashes, &of->resolved, &of->targets};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->data);
    free(of);
}
