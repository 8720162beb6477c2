/* Selects the lines of the main content that are its text, without additions to it (docs/reference/fingerprint.md). */
#include <stdlib.h>

#include "kernel.h"

#define PARAGRAPH 80 /* bytes outside links from which on a line is a paragraph */
#define ENOUGH 80    /* bytes of text after which comments may be longer than the rest of the page */

/* `whole`: bytes of the main content outside links; `before`: those before the box. */
static int is_addition(const box *one, int64_t whole, int64_t before) {
    if (one->tag & CAPTION)
        return 1;
    if (one->words & REMARK && before >= ENOUGH && !(one->tag & (ARTICLE | MAIN)))
        return 1;
    if (one->own_text * 3 <= whole &&
        (one->tag & ADDED || one->words & REMARK || (one->words & ADDITION && !(one->tag & ARTICLE))))
        return 1;
    return one->tag & LAYOUT && !(one->tag & ADDED) && one->own_text * 5 <= whole &&
           one->end_link - one->first_link >= 2 && one->link_text * 3 > one->text;
}

/* Adds the additions to the noise. */
static void judge(const division *d, int32_t end, const int64_t *own_before) {
    const box *main = d->boxes + d->main;
    for (int32_t i = d->main + 1; i < end; i++) {
        const box *one = d->boxes + i;
        if (d->states[one->parent] != IN)
            d->states[i] = INSIDE_NOISE;
        else if (d->states[i] == IN &&
                 is_addition(one, d->kept[d->main], own_before[one->first_line] - own_before[main->first_line]))
            d->states[i] = NOISE;
    }
}

/* The innermost box with 7/10 of the text in paragraphs, if this is half of the text left; else the main box.
 * `before`: bytes of paragraphs before each line. */
static int32_t densest(const division *d, int32_t end, const int64_t *before, int64_t left) {
    int32_t found = d->main;
    int64_t whole = before[d->boxes[found].end_line];
    if (whole <= 0 || whole * 2 < left)
        return found;
    for (int32_t i = found + 1; i < end; i++) {
        const box *one = d->boxes + i;
        if (one->parent == found && d->states[i] == IN &&
            (before[one->end_line] - before[one->first_line]) * 10 >= whole * 7)
            found = i;
    }
    return found;
}

static int put_lines(buffer *to, const uint8_t *is_text, int32_t first, int32_t end) {
    while (first < end) {
        span one;
        while (first < end && !is_text[first])
            first++;
        one.first = first;
        while (first < end && is_text[first])
            first++;
        one.end = first;
        if (one.first < one.end && !put(to, &one, sizeof one))
            return 0;
    }
    return 1;
}

int select_body(page *of, const division *d, const int64_t *own_before) {
    const box *main = d->boxes + d->main, *text;
    int32_t end = end_inside(d, d->main);
    uint8_t *is_text = calloc((size_t)of->lines + 1, 1);
    int64_t *before = calloc((size_t)of->lines + 1, sizeof *before), left = 0;
    int is_done = 0;
    if (is_text != NULL && before != NULL) {
        judge(d, end, own_before);
        memset(is_text + main->first_line, 1, (size_t)(main->end_line - main->first_line));
        for (int32_t i = d->main + 1; i < end; i++)
            if (d->states[i] == NOISE)
                memset(is_text + d->boxes[i].first_line, 0, (size_t)(d->boxes[i].end_line - d->boxes[i].first_line));
        for (int32_t i = 0; i < of->lines; i++) {
            int64_t own = own_before[i + 1] - own_before[i];
            before[i + 1] = before[i] + (is_text[i] && own >= PARAGRAPH ? own : 0);
            left += is_text[i] ? own : 0;
        }
        text = d->boxes + densest(d, end, before, left);
        for (int32_t i = main->first_line; i < text->first_line; i++)
            is_text[i] = before[i + 1] > before[i];
        is_done = put_lines(&of->body_lines, is_text, main->first_line, text->end_line);
    }
    free(is_text);
    free(before);
    return is_done;
}
