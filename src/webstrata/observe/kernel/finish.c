/* Collapses the white space of the texts, and counts the text in each box. */
#include <stdlib.h>

#include "kernel.h"

/* Collapses white space in place; a 0 ends a line. Stores the end of each line, and the bytes of words before it. */
static int collapse(page *of, int64_t *sizes) {
    int32_t *ends = (int32_t *)tail(&of->line_ends, ((size_t)of->lines + 1) * sizeof(int32_t));
    const char *at = of->text.data, *end = at + of->text.length;
    char *start = of->text.data, *out = start;
    int64_t size = 0;
    int32_t line = 0;
    int in_word = 0;
    if (ends == NULL)
        return 0;
    sizes[0] = 0;
    for (; at < end; at++) {
        if (*at == ' ')
            in_word = 0;
        else if (*at == 0) {
            in_word = 0;
            if (line < of->lines) {
                ends[line++] = (int32_t)(out - start);
                sizes[line] = size;
            }
        } else {
            const char *word = at;
            if (!in_word && out > start)
                *out++ = ' ';
            in_word = 1;
            while (at < end && *at != ' ' && *at != 0)
                *out++ = *at++;
            size += at - word;
            at--;
        }
    }
    of->lines = line;
    of->line_ends.length = (size_t)line * sizeof(int32_t);
    of->text.length = (size_t)(out - start);
    return 1;
}

static void weigh_pieces(const page *of, int64_t *sizes) {
    const char *at = of->linked.data, *end = at + of->linked.length;
    int32_t piece = 0;
    int64_t size = 0;
    sizes[0] = 0;
    for (; at < end; at++)
        if (*at == 0) {
            if (piece < of->pieces)
                sizes[++piece] = size;
        } else
            size += !is_blank((unsigned char)*at);
    while (piece < of->pieces)
        sizes[++piece] = size;
}

static void weigh(page *of, const int64_t *lines, const int64_t *pieces) {
    box *boxes = (box *)of->boxes.data;
    size_t number = of->boxes.length / sizeof(box);
    for (size_t i = 0; i < number; i++) {
        box *one = boxes + i;
        one->text = lines[one->end_line] - lines[one->first_line];
        one->link_text = pieces[one->end_piece] - pieces[one->first_piece];
        one->own_text = one->text - one->link_text;
    }
}

/* Replaces the bytes of words before each line by those that are outside links. */
static void subtract_links(const page *of, int64_t *lines, const int64_t *pieces) {
    const int32_t *before = (const int32_t *)of->line_pieces.data;
    for (int32_t i = 0; i < of->lines; i++)
        lines[i + 1] -= pieces[before[i]];
}

/* Finishes a page with status READ. Its texts must be in composed form, with all their zeros. */
EXPORTED void page_finish(page *of) {
    int64_t *lines, *pieces;
    if (of->status != READ)
        return;
    lines = calloc((size_t)of->lines + 1, sizeof *lines);
    pieces = calloc((size_t)of->pieces + 1, sizeof *pieces);
    if (lines != NULL && pieces != NULL && collapse(of, lines)) {
        weigh_pieces(of, pieces);
        weigh(of, lines, pieces);
        subtract_links(of, lines, pieces);
        select_main(of, lines);
    } else
        of->status = NO_MEMORY;
    free(lines);
    free(pieces);
}

/* Replaces the texts by their composed form. */
EXPORTED void page_recompose(page *of, const char *text, size_t text_length, const char *linked, size_t linked_length) {
    of->text.length = of->linked.length = 0;
    if (!put(&of->text, text, text_length) || !put(&of->linked, linked, linked_length))
        of->status = NO_MEMORY;
}
