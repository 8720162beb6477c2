/* Selects the lines and links of the main content, from the boxes of a page (docs/reference/fingerprint.md). */
#include <stdlib.h>

#include "kernel.h"

enum state { IN, NOISE, INSIDE_NOISE };

typedef struct {
    const box *boxes;
    int32_t number, start, end; /* the start box; the boxes inside it end before `end` */
    uint8_t *states, *in_section;
    int64_t *kept, *lost;
} division;

static int kind(const box *one) { return one->tag & 7; }

/* The end of the boxes inside a box: those that follow it, up to the first whose parent comes before it. */
static int32_t end_inside(const division *d, int32_t start) {
    int32_t end = start + 1;
    while (end < d->number && d->boxes[end].parent >= start)
        end++;
    return end;
}

/* The box to search: the only `main`, if it has at least a tenth of the text; else the whole body. */
static int32_t start_of(const division *d) {
    int32_t found = 0, mains = 0;
    for (int32_t i = 0; i < d->number; i++)
        if (kind(d->boxes + i) == MAIN && !mains++)
            found = i;
    return mains == 1 && d->boxes[found].own_text * 10 >= d->boxes[0].own_text ? found : 0;
}

static int is_noise(const division *d, const box *one, int is_index) {
    int64_t whole = d->boxes[d->start].own_text, links = one->end_link - one->first_link;
    int tag = kind(one);
    if (tag == ASIDE || (tag == MARGIN && !d->in_section[one->parent]))
        return one->own_text * 2 <= whole;
    if (tag != LAYOUT || one->own_text * 5 > whole || is_index)
        return 0;
    return links >= 2 && (one->link_text * 2 > one->text || links * 20 > one->text);
}

static void judge(const division *d) {
    const box *start = d->boxes + d->start;
    int is_index = start->own_text * 4 < start->text; /* a page of links: the links are its content */
    d->in_section[d->start] = (start->tag & IS_SECTION) != 0;
    for (int32_t i = d->start + 1; i < d->end; i++) {
        const box *one = d->boxes + i;
        if (d->states[one->parent] != IN) {
            d->states[i] = INSIDE_NOISE;
            continue;
        }
        d->states[i] = is_noise(d, one, is_index) ? NOISE : IN;
        d->in_section[i] = d->in_section[one->parent] || (one->tag & IS_SECTION);
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

/* The first article with half of the text, or else the start; in it the innermost box with 19/20 of its text. */
static int32_t main_of(const division *d) {
    int32_t found = d->start, end;
    int64_t whole;
    if (d->kept[d->start] <= 0)
        return d->start;
    for (int32_t i = d->start + 1; i < d->end; i++)
        if (kind(d->boxes + i) == ARTICLE && d->states[i] == IN && d->kept[i] * 2 >= d->kept[d->start]) {
            found = i;
            break;
        }
    whole = d->kept[found];
    end = end_inside(d, found);
    for (int32_t i = found + 1; i < end; i++)
        if (d->boxes[i].parent == found && d->states[i] == IN && d->kept[i] * 20 >= whole * 19)
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

void select_main(page *of) {
    division d = {(const box *)of->boxes.data, (int32_t)(of->boxes.length / sizeof(box)), 0, 0, NULL, NULL, NULL, NULL};
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
        found = d.boxes + main_of(&d);
        if (without_noise(&d, (span){found->first_line, found->end_line}, 0, &of->main_lines) &&
            without_noise(&d, (span){found->first_link, found->end_link}, 1, &of->main_links))
            of->status = READ;
    }
    free(d.states);
    free(d.in_section);
    free(d.kept);
    free(d.lost);
}
