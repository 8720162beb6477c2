/* Selects the lines and links of the main content, from the boxes of a page (docs/reference/fingerprint.md). */
#include <stdlib.h>

#include "kernel.h"

#define LONG_LINK 30 /* bytes; links in menus are shorter, those of entries in a list this long on average */

/* The end of the boxes inside a box: those that follow it, up to the first whose parent comes before it. */
int32_t end_inside(const division *d, int32_t start) {
    int32_t end = start + 1;
    while (end < d->number && d->boxes[end].parent >= start)
        end++;
    return end;
}

/* The box to search: the only `main`, if it has at least a tenth of the text; else the whole body. */
static int32_t start_of(const division *d) {
    int32_t found = 0, mains = 0;
    for (int32_t i = 0; i < d->number; i++)
        if (d->boxes[i].tag & MAIN && !mains++)
            found = i;
    return mains == 1 && d->boxes[found].own_text * 10 >= d->boxes[0].own_text ? found : 0;
}

/* Whether a box consists of links. In a section, it must consist of them nearly completely, and they are short. */
static int is_menu(const box *one, int is_in_section) {
    int64_t links = one->end_link - one->first_link;
    if (links < 2)
        return 0;
    if (is_in_section)
        return one->link_text * 4 > one->text * 3 && one->link_text < LONG_LINK * links;
    return one->link_text * 2 > one->text || links * 20 > one->text;
}

static int is_noise(const division *d, const box *one, int is_index) {
    int64_t whole = d->boxes[d->start].own_text;
    int is_in_section = d->in_section[one->parent];
    if (one->tag & ASIDE || (one->tag & MARGIN && !is_in_section))
        return one->own_text * 2 <= whole;
    return one->tag & LAYOUT && one->own_text * 5 <= whole && !is_index && is_menu(one, is_in_section);
}

static void judge(const division *d) {
    const box *start = d->boxes + d->start;
    int is_index = start->own_text * 4 < start->text; /* a page of links: the links are its content */
    d->in_section[d->start] = (start->tag & SECTION) != 0;
    for (int32_t i = d->start + 1; i < d->end; i++) {
        const box *one = d->boxes + i;
        if (d->states[one->parent] != IN) {
            d->states[i] = INSIDE_NOISE;
            continue;
        }
        d->states[i] = is_noise(d, one, is_index) ? NOISE : IN;
        d->in_section[i] = d->in_section[one->parent] || (one->tag & SECTION) != 0;
    }
}

/* Bytes of text outside links in each box, without the noise inside it. */
static void keep(const division *d) {
    for (int32_t i = d->start; i < d->end; i++)
        d->kept[i] = d->boxes[i].own_text;
    for (int32_t i = d->end - 1; i > d->start; i--) {
        d->lost[d->boxes[i].parent] += d->states[i] == NOISE ? d->boxes[i].own_text : d->lost[i];
        d->kept[i] -= d->lost[i];
    }
    d->kept[d->start] -= d->lost[d->start];
}

static int is_kept_article(const division *d, int32_t i) {
    return d->boxes[i].tag & ARTICLE && d->states[i] == IN && d->kept[i] > 0;
}

/* The first article with half of the text, or the box around it if that has other articles; -1: none. */
static int32_t article_of(const division *d) {
    int32_t found = d->start + 1, around;
    while (found < d->end && !(is_kept_article(d, found) && d->kept[found] * 2 >= d->kept[d->start]))
        found++;
    if (found >= d->end)
        return -1;
    around = d->boxes[found].parent;
    for (int32_t i = around + 1; i < d->end; i++)
        if (i != found && d->boxes[i].parent == around && is_kept_article(d, i))
            return around;
    return found;
}

/* A `main`, or an article, or the innermost box with 19/20 of the text. */
static int32_t main_of(const division *d) {
    int32_t found;
    if (d->start || d->kept[d->start] <= 0)
        return d->start;
    found = article_of(d);
    if (found >= 0)
        return found;
    found = d->start;
    for (int32_t i = found + 1; i < d->end; i++)
        if (d->boxes[i].parent == found && d->states[i] == IN && d->kept[i] * 20 >= d->kept[d->start] * 19)
            found = i;
    return found;
}

/* A span without the noise in it. Noise boxes are in order; those not completely inside the span have no effect. */
static int without_noise(const division *d, span whole, int of_links, buffer *to) {
    for (int32_t i = d->start + 1; i < d->end; i++) {
        const box *one = d->boxes + i;
        span hole = of_links ? (span){one->first_link, one->end_link} : (span){one->first_line, one->end_line};
        if (d->states[i] != NOISE || whole.first > hole.first || hole.first >= hole.end || hole.end > whole.end)
            continue;
        if (whole.first < hole.first && !put(to, &(span){whole.first, hole.first}, sizeof(span)))
            return 0;
        whole.first = hole.end;
    }
    return whole.first >= whole.end || put(to, &whole, sizeof whole);
}

void select_main(page *of, const int64_t *own_before) {
    division d = {(const box *)of->boxes.data, (int32_t)(of->boxes.length / sizeof(box)), 0, 0, 0, NULL, NULL, NULL, NULL};
    if (!d.number)
        return;
    d.states = calloc((size_t)d.number, 1);
    d.in_section = calloc((size_t)d.number, 1);
    d.kept = calloc((size_t)d.number, sizeof *d.kept);
    d.lost = calloc((size_t)d.number, sizeof *d.lost);
    of->status = NO_MEMORY;
    if (d.states && d.in_section && d.kept && d.lost) {
        const box *found;
        d.start = start_of(&d);
        d.end = end_inside(&d, d.start);
        judge(&d);
        keep(&d);
        d.main = main_of(&d);
        found = d.boxes + d.main;
        if (without_noise(&d, (span){found->first_line, found->end_line}, 0, &of->main_lines) &&
            without_noise(&d, (span){found->first_link, found->end_link}, 1, &of->main_links) &&
            select_body(of, &d, own_before))
            of->status = READ;
    }
    free(d.states);
    free(d.in_section);
    free(d.kept);
    free(d.lost);
}
