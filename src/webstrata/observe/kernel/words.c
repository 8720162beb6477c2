/* The words in the names of a box that tell additions from the main text. box_words.py has the same lists. */
#include <string.h>

#include "kernel.h"

#define LONGEST 16 /* longer than the longest word */

static const char *const remarks[] = {"comment", "consent", "cookie",  "disqus", "gdpr",
                                      "kommentar", "replies", "reply", "respond", NULL};
static const char *const additions[] = {
    "addthis",   "ads",       "advert",     "author",     "banner",   "breadcrumb", "byline",   "caption",
    "categories",   "complementary", "contentinfo", "copyright", "credit", "disclaimer", "follow", "footer",
    "gallery",   "latest",    "login",      "masthead",   "menu",     "meta",       "modal",    "nav",
    "newsletter", "outbrain", "pager",      "pagination", "popular",  "popup",      "print",    "promo",
    "rating",    "recent",    "recommend",  "related",    "search",   "share",      "sharing",  "sidebar",
    "signup",    "similar",   "social",     "sponsor",    "subscribe", "taboola",   "tags",     "toolbar",
    "trending",  NULL};

typedef struct {
    const char *word;
    uint8_t length, list, next; /* of the words with the same first letter; 0: the last */
} entry;

static entry entries[64];
static uint8_t first_entry[256]; /* by the first letter; 0: none */

static uint8_t add(const char *const *words, uint8_t list, uint8_t number) {
    for (; *words != NULL; words++) {
        unsigned char letter = (unsigned char)**words;
        entries[++number] = (entry){*words, (uint8_t)strlen(*words), list, first_entry[letter]};
        first_entry[letter] = number;
    }
    return number;
}

__attribute__((constructor)) static void fill(void) { add(additions, ADDITION, add(remarks, REMARK, 0)); }

static unsigned char lower(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

static int is_name(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

int words_in(const char *at, const char *end) {
    int found = 0;
    while (at < end) {
        char name[LONGEST];
        size_t length = 0;
        for (; at < end && is_name(lower(*at)); at++)
            if (length < LONGEST)
                name[length++] = (char)lower(*at);
        for (uint8_t i = length ? first_entry[(unsigned char)*name] : 0; i; i = entries[i].next)
            if (entries[i].length <= length && !memcmp(name, entries[i].word, entries[i].length))
                found |= entries[i].list;
        at += length == 0;
    }
    return found;
}
