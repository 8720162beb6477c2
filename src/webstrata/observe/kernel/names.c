/* The properties of element names, in a hash table that is filled when the library is loaded. */
#include <string.h>

#include "kernel.h"

#define SLOTS 512 /* a power of two, several times the number of names */
#define LONGEST 16

typedef struct {
    char name[LONGEST];
    uint8_t length;
    name_facts facts;
} slot;

static slot slots[SLOTS];

static unsigned slot_index(const char *name, size_t length) {
    unsigned hash = (unsigned)length;
    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char)name[i];
    return (hash ^ (hash >> 9)) & (SLOTS - 1);
}

static slot *find(const char *name, size_t length) {
    unsigned index = slot_index(name, length);
    while (slots[index].length && (slots[index].length != length || memcmp(slots[index].name, name, length)))
        index = (index + 1) & (SLOTS - 1);
    return &slots[index];
}

name_facts facts_of(const char *name, size_t length) {
    static const name_facts other = {INLINE, 0, 0, 0, 0};
    return length < LONGEST && length ? find(name, length)->facts : other;
}

int is_line_end(const char *lower, size_t length) { return facts_of(lower, length).kind >= LINE; }

static void each(const char *names, void (*set)(name_facts *)) {
    while (*names) {
        size_t length = strcspn(names, " ");
        slot *one = find(names, length);
        memcpy(one->name, names, length);
        one->length = (uint8_t)length;
        set(&one->facts);
        names += length + (names[length] == ' ');
    }
}

static void silent(name_facts *f) { f->kind = SILENT; }
static void pointer(name_facts *f) { f->kind = POINTER; }
static void a_link(name_facts *f) { f->kind = LINK; }
static void line(name_facts *f) { f->kind = LINE; }
static void a_box(name_facts *f) { f->kind = BOX; }
static void aside(name_facts *f) { f->tag |= ASIDE; }
static void margin(name_facts *f) { f->tag |= MARGIN; }
static void layout(name_facts *f) { f->tag |= LAYOUT; }
static void section(name_facts *f) { f->tag |= SECTION; }
static void main_(name_facts *f) { f->tag |= MAIN; }
static void article(name_facts *f) { f->tag |= ARTICLE; }
static void caption(name_facts *f) { f->tag |= CAPTION; }
static void added(name_facts *f) { f->tag |= ADDED; }
static void raw(name_facts *f) { f->is_raw = 1; }
static void is_void(name_facts *f) { f->is_void = 1; }
static void foreign(name_facts *f) { f->is_foreign = 1; }

__attribute__((constructor)) static void fill(void) {
    each("address blockquote br caption dd details dir dl dt fieldset figure h1 h2 h3 h4 h5 h6 hgroup hr "
         "legend li ol optgroup option p pre search select summary table tbody textarea tfoot th thead title tr ul",
         line);
    each("article aside body center dialog div figcaption footer form header main menu nav section td", a_box);
    each("script style noscript template noembed noframes", silent);
    each("area iframe", pointer);
    each("a", a_link);
    each("dialog menu nav", aside);
    each("aside footer header", margin);
    each("aside div form section", layout);
    each("article main section", section);
    each("main", main_);
    each("article", article);
    each("figcaption", caption);
    each("aside dialog footer form menu nav", added);
    /* How the HTML standard serialises elements ("Serializing HTML fragments"), with scripting enabled. */
    each("iframe noembed noframes noscript plaintext script style xmp", raw);
    each("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr", is_void);
    each("math svg", foreign);
}
