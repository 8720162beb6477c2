/* Parses the serialised body of a page into texts, links and boxes, in document order.
 *
 * A serialised tree is regular: every element has an end, values are quoted, `<` occurs in no text except that of raw
 * elements. Where such a text could contain its own end tag, or where tags do not match, the status is UNCLEAR
 * and the caller writes the tree in the form that has no raw and no void elements (observe/kernel/reserialise.py).
 */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

typedef struct {
    uint32_t name, length;
    uint8_t kind, is_foreign;
} element;

typedef struct {
    page *to;
    const char *start, *at, *end;
    int is_unambiguous;
    buffer open; /* element */
    size_t invisible_from; /* depth of the outermost invisible element; 0: none is open */
    int foreign_depth, link_depth;
    int32_t box;    /* the innermost one open, -1: none */
    int passed;     /* since the last text: 1 the start of an element, 2 the end of an element, 3 both */
    int is_new_line;
} walk;

static int fail(walk *w, enum status why) {
    if (w->to->status == READ)
        w->to->status = why;
    return 0;
}

static const char *find(const char *from, const char *end, const char *what, size_t length) {
    while ((size_t)(end - from) >= length) {
        from = memchr(from, what[0], (size_t)(end - from) - length + 1);
        if (from == NULL)
            return NULL;
        if (!memcmp(from, what, length))
            return from;
        from++;
    }
    return NULL;
}

/* ── text ───────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Whether a character stays the same in composed form, next to any other character. These are most characters of real
 * pages; for others the caller uses Python's Unicode tables. tests/observe/kernel/test_library.py checks each range. */
static int keeps_form(uint32_t c) {
    static const uint32_t ranges[][2] = {
        {0x0000, 0x02FF}, {0x0388, 0x03FF}, {0x0400, 0x0482}, {0x048A, 0x052F}, {0x05D0, 0x05EA}, {0x0621, 0x064A},
        {0x1D00, 0x1DBF}, {0x1E00, 0x1EFF}, {0x2002, 0x2064}, {0x2070, 0x209C}, {0x20A0, 0x20C0}, {0x2100, 0x2125},
        {0x2127, 0x2129}, {0x212C, 0x2328}, {0x232B, 0x2426}, {0x2460, 0x2ADB}, {0x2B00, 0x2BFF}, {0x3001, 0x3029},
        {0x3041, 0x3096}, {0x309B, 0x30FF}, {0x4E00, 0x9FEF}, {0xAC00, 0xD7A3}, {0xFF01, 0xFFBE}, {0xFFFC, 0xFFFD},
        {0x1D400, 0x1D7FF}, {0x1F300, 0x1FAFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && c >= ranges[i][0]; i++)
        if (c <= ranges[i][1])
            return 1;
    return 0;
}

/* Decodes a character beyond ASCII; returns its length, or 0 if the bytes are not UTF-8. */
static size_t character(const unsigned char *at, const unsigned char *end, uint32_t *c) {
    size_t length = *at >= 0xF0 ? 4 : *at >= 0xE0 ? 3 : *at >= 0xC2 ? 2 : 0;
    if (!length || (size_t)(end - at) < length)
        return 0;
    *c = *at & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        *c = *c << 6 | (at[i] & 0x3F);
    }
    return length;
}

typedef struct {
    const char *name;
    uint8_t length;
    char value;
} reference;

static const reference references[] = {{"&amp;", 5, '&'}, {"&lt;", 4, '<'}, {"&gt;", 4, '>'}, {"&quot;", 6, '"'}};

/* Decodes a character reference of the serialisation. In text, a no-break space becomes a space. */
static const char *unescaped(const char *at, const char *end, char **to, int is_text) {
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if ((size_t)(end - at) >= references[i].length && !memcmp(at, references[i].name, references[i].length)) {
            *(*to)++ = references[i].value;
            return at + references[i].length;
        }
    if (end - at >= 6 && !memcmp(at, "&nbsp;", 6)) {
        if (is_text)
            *(*to)++ = ' ';
        else {
            *(*to)++ = (char)0xC2;
            *(*to)++ = (char)0xA0;
        }
        return at + 6;
    }
    return NULL;
}

#define EIGHT(byte) (0x0101010101010101u * (byte))

/* Whether eight bytes can be copied as they are: ASCII, no control characters, no `&`. */
static int is_plain(uint64_t eight) {
    uint64_t ampersands = eight ^ EIGHT('&');
    return !((eight | (eight - EIGHT(' ')) | (ampersands - EIGHT(1))) & EIGHT(0x80));
}

/* Copies a text without its escapes, with spaces for white space. Returns whether it has a word; -1: unclear. */
static int copy_text(walk *w, const char *at, const char *end, char **to, int is_raw) {
    int has_word = 0;
    char *out = *to;
    while (at < end) {
        unsigned char c = (unsigned char)*at;
        uint64_t eight;
        if (end - at >= 8 && (memcpy(&eight, at, 8), is_plain(eight))) {
            memcpy(out, at, 8);
            has_word |= eight != EIGHT(' ');
            out += 8;
            at += 8;
        } else if (is_blank(c)) {
            *out++ = ' ';
            at++;
        } else if (c == '&' && !is_raw) {
            at = unescaped(at, end, &out, 1);
            if (at == NULL)
                return -1;
            has_word |= out[-1] != ' ';
        } else if (c < 0x80) {
            *out++ = (char)c;
            at++;
            has_word = 1;
        } else {
            uint32_t point = 0;
            size_t length = character((const unsigned char *)at, (const unsigned char *)end, &point);
            if (!length)
                return -1;
            if (point == 0xA0)
                *out++ = ' ';
            else {
                memcpy(out, at, length);
                out += length;
                has_word = 1;
                if (point >= 0x300 && !keeps_form(point))
                    w->to->is_composed = 0;
            }
            at += length;
        }
    }
    *to = out;
    return has_word;
}

static int text_node(walk *w, const char *from, const char *end, int is_raw) {
    page *to = w->to;
    size_t before = to->text.length;
    char *start, *out;
    int has_word;
    if (w->invisible_from)
        return 1;
    start = out = tail(&to->text, (size_t)(end - from) + 1);
    if (out == NULL)
        return fail(w, NO_MEMORY);
    if (w->passed == 3)
        *out++ = ' ';
    has_word = copy_text(w, from, end, &out, is_raw);
    if (has_word < 0)
        return fail(w, UNCLEAR);
    w->passed = 0;
    if (!has_word) {
        if (!w->is_new_line)
            to->text.data[to->text.length++] = ' ';
        return 1;
    }
    to->text.length = before + (size_t)(out - start);
    w->is_new_line = 0;
    if (w->link_depth) {
        to->pieces++;
        if (!put(&to->linked, start, (size_t)(out - start)) || !put(&to->linked, "", 1))
            return fail(w, NO_MEMORY);
    }
    return 1;
}

/* ── tags ───────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Parses ` name="value"` or ` name`; 0: there is none. */
static int attribute(walk *w, span *name, span *value) {
    const char *at = w->at;
    if (at >= w->end || *at != ' ')
        return 0;
    at++;
    name->first = (int32_t)(at - w->start);
    if (at < w->end && *at == '=') /* allowed only as the first character of a name */
        at++;
    while (at < w->end && *at != '=' && *at != ' ' && *at != '>')
        at++;
    name->end = (int32_t)(at - w->start);
    value->first = value->end = name->end;
    if (w->end - at >= 2 && at[0] == '=' && at[1] == '"') {
        const char *quote = memchr(at + 2, '"', (size_t)(w->end - at) - 2);
        if (quote == NULL)
            return fail(w, UNCLEAR);
        value->first = (int32_t)(at + 2 - w->start);
        value->end = (int32_t)(quote - w->start);
        at = quote + 1;
    }
    w->at = at;
    return 1;
}

static int put_value(walk *w, buffer *to, span value) {
    const char *at = w->start + value.first, *end = w->start + value.end;
    char *start = tail(to, (size_t)(end - at) + 1), *out = start;
    if (out == NULL)
        return fail(w, NO_MEMORY);
    while (at < end)
        if (*at != '&')
            *out++ = *at++;
        else if ((at = unescaped(at, end, &out, 0)) == NULL)
            return fail(w, UNCLEAR);
    *out++ = 0;
    to->length += (size_t)(out - start);
    return 1;
}

static int past_tag(walk *w) {
    if (w->at >= w->end || *w->at != '>')
        return fail(w, UNCLEAR);
    w->at++;
    return 1;
}

/* Moves past the `>`; `wanted` is the attribute to find. Returns whether it was found; check the status, too. */
static int attributes(walk *w, const char *wanted, span *found) {
    size_t length = wanted ? strlen(wanted) : 0;
    int is_found = 0;
    span name, value;
    while (attribute(w, &name, &value))
        if (wanted && !is_found && (size_t)(name.end - name.first) == length &&
            !memcmp(w->start + name.first, wanted, length)) {
            is_found = 1;
            *found = value;
        }
    return past_tag(w) && is_found;
}

/* Moves past the `>` of a box; returns the lists of words with which its names begin. Check the status, too. */
static int box_words(walk *w) {
    int words = 0;
    span name, value;
    while (attribute(w, &name, &value)) {
        const char *at = w->start + name.first;
        size_t length = (size_t)(name.end - name.first);
        if ((length == 5 && !memcmp(at, "class", 5)) || (length == 2 && !memcmp(at, "id", 2)) ||
            (length == 4 && !memcmp(at, "role", 4)))
            words |= words_in(w->start + value.first, w->start + value.end);
    }
    return past_tag(w) ? words : 0;
}

static int end_line(walk *w) {
    if (w->is_new_line)
        return 1;
    w->is_new_line = 1;
    w->to->lines++;
    return (put(&w->to->text, "", 1) && put(&w->to->line_pieces, &w->to->pieces, sizeof w->to->pieces)) ||
           fail(w, NO_MEMORY);
}

static int start_box(walk *w, int tag, int words) {
    page *to = w->to;
    box one = {tag, words, w->box, to->lines, 0, to->links, 0, to->pieces, 0, 0, 0, 0};
    w->box = (int32_t)(to->boxes.length / sizeof(box));
    return put(&to->boxes, &one, sizeof one) || fail(w, NO_MEMORY);
}

static void end_box(walk *w) {
    box *one = (box *)w->to->boxes.data + w->box;
    one->end_line = w->to->lines;
    one->end_link = w->to->links;
    one->end_piece = w->to->pieces;
    w->box = one->parent;
}

/* Handles the start of a visible element; changes `kind` for a link without address and for a pointer. */
static int started(walk *w, name_facts facts, uint8_t *kind) {
    span value = {0, 0};
    const char *wanted = facts.kind == LINK ? "href" : facts.kind == POINTER ? facts.is_raw ? "src" : "href" : NULL;
    int is_found = 0, words = 0;
    if (facts.kind == BOX)
        words = box_words(w);
    else
        is_found = attributes(w, wanted, &value);
    if (w->to->status != READ)
        return 0;
    w->passed |= 1;
    if (*kind >= LINE && !end_line(w))
        return 0;
    if (*kind == BOX)
        return start_box(w, facts.tag, words);
    if (*kind == LINK && !is_found)
        *kind = INLINE;
    if (*kind == LINK) {
        w->to->links++;
        w->link_depth++;
        return put_value(w, &w->to->hrefs, value);
    }
    if (*kind == POINTER) {
        *kind = SILENT;
        return put_value(w, &w->to->pointers, value);
    }
    return 1;
}

static int ended(walk *w, uint8_t kind) {
    w->passed |= 2;
    if (kind >= LINE && !end_line(w))
        return 0;
    if (kind == BOX)
        end_box(w);
    if (kind == LINK)
        w->link_depth--;
    return 1;
}

/* Whether `<script` follows `<!--`: then `</script>` may be part of the script. */
static int may_hold_its_end(const char *from, const char *end) {
    const char *at = find(from, end, "<!--", 4);
    static const char name[] = "script";
    for (; at != NULL; at = find(at + 1, end, "<", 1)) {
        size_t i = 0;
        while (i < 6 && (size_t)(end - at) > i + 1 && (at[i + 1] | 0x20) == name[i])
            i++;
        if (i == 6)
            return 1;
    }
    return 0;
}

/* Parses the content of a raw element and its end tag. */
static int raw_content(walk *w, const char *name, size_t length, uint8_t kind) {
    const char *at = w->at;
    if (w->foreign_depth || (length == 9 && !memcmp(name, "plaintext", 9)))
        return fail(w, UNCLEAR); /* its text may contain anything */
    for (;; at += 2) {
        at = find(at, w->end, "</", 2);
        if (at == NULL)
            return fail(w, UNCLEAR);
        if ((size_t)(w->end - at) > length + 2 && !memcmp(at + 2, name, length) && at[2 + length] == '>')
            break;
    }
    if (length == 6 && !memcmp(name, "script", 6) && may_hold_its_end(w->at, at))
        return fail(w, UNCLEAR);
    if (kind != SILENT && at > w->at && !text_node(w, w->at, at, 1))
        return 0;
    w->at = at + length + 3;
    return w->invisible_from ? 1 : ended(w, kind);
}

static int start_tag(walk *w) {
    const char *name = w->at + 1, *at = name;
    element one = {(uint32_t)(name - w->start), 0, INLINE, 0};
    name_facts facts;
    while (at < w->end && *at != ' ' && *at != '>')
        at++;
    one.length = (uint32_t)(at - name);
    w->at = at;
    facts = facts_of(name, one.length);
    if (w->invisible_from) {
        span nowhere;
        attributes(w, NULL, &nowhere);
        if (w->to->status != READ)
            return 0;
    } else {
        one.kind = facts.kind;
        if (!started(w, facts, &one.kind))
            return 0;
    }
    if (!w->is_unambiguous && facts.is_void)
        return w->invisible_from ? 1 : ended(w, one.kind);
    if (!w->is_unambiguous && facts.is_raw)
        return raw_content(w, name, one.length, one.kind);
    one.is_foreign = facts.is_foreign;
    w->foreign_depth += facts.is_foreign;
    if (!put(&w->open, &one, sizeof one))
        return fail(w, NO_MEMORY);
    if (one.kind == SILENT)
        w->invisible_from = w->open.length;
    return 1;
}

static int end_tag(walk *w) {
    element *one;
    const char *name = w->at + 2;
    if (!w->open.length)
        return fail(w, UNCLEAR);
    one = (element *)(w->open.data + w->open.length) - 1;
    if ((size_t)(w->end - name) <= one->length || memcmp(name, w->start + one->name, one->length) ||
        name[one->length] != '>')
        return fail(w, UNCLEAR);
    w->at = name + one->length + 1;
    w->foreign_depth -= one->is_foreign;
    if (w->invisible_from == w->open.length)
        w->invisible_from = 0;
    w->open.length -= sizeof *one;
    return w->invisible_from ? 1 : ended(w, one->kind);
}

static int comment(walk *w) {
    const char *end = find(w->at + 4, w->end, "-->", 3);
    if (end == NULL)
        return fail(w, UNCLEAR);
    w->at = end + 3;
    return 1;
}

static int markup(walk *w) {
    size_t left = (size_t)(w->end - w->at);
    unsigned char next = left > 1 ? (unsigned char)w->at[1] : 0;
    if (next == '/')
        return end_tag(w);
    if ((next | 0x20) >= 'a' && (next | 0x20) <= 'z')
        return start_tag(w);
    if (left >= 4 && !memcmp(w->at, "<!--", 4))
        return comment(w);
    return fail(w, UNCLEAR); /* a processing instruction */
}

static void through(walk *w) {
    while (w->at < w->end) {
        if (*w->at == '<') {
            if (!markup(w))
                return;
            if (!w->open.length)
                break;
        } else {
            const char *from = w->at, *next = memchr(from, '<', (size_t)(w->end - from));
            w->at = next ? next : w->end;
            if (!text_node(w, from, w->at, 0))
                return;
        }
    }
    if (w->open.length || w->at != w->end)
        fail(w, UNCLEAR);
}

/* Parses one serialised element; `is_unambiguous`: without raw and void elements. NULL: no memory. */
EXPORTED page *page_read(const char *html, size_t length, int is_unambiguous) {
    page *to = calloc(1, sizeof *to);
    walk w = {to, html, html, html + length, is_unambiguous, {NULL, 0, 0}, 0, 0, 0, -1, 0, 1};
    if (to == NULL)
        return NULL;
    to->is_composed = 1;
    if (length > INT32_MAX / 2 || memchr(html, 0, length) != NULL)
        fail(&w, UNCLEAR);
    else
        through(&w);
    free(w.open.data);
    return to;
}

EXPORTED void page_free(page *of) {
    buffer *all[] = {&of->text, &of->linked, &of->hrefs, &of->pointers,
                     &of->line_ends, &of->main_lines, &of->body_lines, &of->main_links, &of->boxes, &of->line_pieces};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->data);
    free(of);
}
