/* The kind of a link, and its URL without tracking parameters. */
#include <string.h>

#include "kernel.h"

/* File name extensions of documents, up to four characters, padded with zeros. */
static const char DOCUMENTS[][5] = {
    "7z", "avi", "bib",  "bz2", "csv",  "djvu", "doc",  "docx", "dvi",  "eps",    "epub", "flac", "gif",    "gz",
    "jpeg",   "jpg", "json", "m4a", "m4v",  "mkv",  "mobi", "mov",  "mp3",  "mp4",    "mpeg", "mpg",  "odp",    "ods",
    "odt",    "ogg", "ogv",  "pdf", "png",  "ppt",  "pptx", "ps", "rar",  "rtf",    "svg",  "tar",  "tex",    "tgz",
    "tiff",   "tsv", "txt",  "wav", "webm", "webp", "wmv",  "xls",  "xlsx", "xml",    "xz", "zip"};

static int is_document(slice url) {
    const char *query = memchr(url.at, '?', url.length);
    const char *end = query == NULL ? url.at + url.length : query, *dot = end;
    char ending[4] = {0};
    while (dot > url.at && end - dot < 5 && dot[-1] != '.')
        dot--;
    if (dot == url.at || dot[-1] != '.' || end - dot > 4)
        return 0;
    for (int i = 0; dot + i < end; i++)
        ending[i] = dot[i] >= 'A' && dot[i] <= 'Z' ? (char)(dot[i] + 32) : dot[i];
    for (size_t i = 0; i < sizeof DOCUMENTS / sizeof *DOCUMENTS; i++)
        if (memcmp(DOCUMENTS[i], ending, sizeof ending) == 0)
            return 1;
    return 0;
}

static slice host_of(slice url) {
    const char *end = url.at + url.length, *at = url.at, *slash;
    slice host = {end, 0};
    while (at + 2 < end && memcmp(at, "://", 3) != 0)
        at++;
    if (at + 2 >= end)
        return host;
    at += 3;
    slash = memchr(at, '/', (size_t)(end - at));
    host.at = at;
    host.length = (size_t)((slash == NULL ? end : slash) - at);
    if (begins(host, "www.")) {
        host.at += 4;
        host.length -= 4;
    }
    return host;
}

void count_link(links *to, slice url, slice home) {
    slice host = host_of(url);
    if (is_document(url))
        to->documents++;
    else if (host.length == home.length && memcmp(host.at, home.at, home.length) == 0)
        to->internal++;
    else
        to->external++;
}

static int is_tracking(const char *name, size_t length) {
    static const char *const names[] = {"fbclid", "gclid",  "dclid",  "gbraid", "wbraid", "msclkid", "yclid",
                                        "igshid", "twclid", "mc_cid", "mc_eid", "_hsenc", "_hsmi",   "mkt_tok"};
    char lower[8];
    int is_campaign = length > 4;
    for (size_t i = 0; i < length; i++) {
        char c = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
        if (i < sizeof lower)
            lower[i] = c;
        is_campaign = is_campaign && (i < 4 ? c == "utm_"[i] : c == '_' || (c >= 'a' && c <= 'z'));
    }
    for (size_t i = 0; !is_campaign && i < sizeof names / sizeof *names; i++)
        if (length == strlen(names[i]) && memcmp(lower, names[i], length) == 0)
            return 1;
    return is_campaign;
}

/* The end of a tracking parameter that begins at a `?` or `&`; its beginning if it is another parameter. */
static const char *tracking_end(const char *at, const char *end) {
    const char *name = at + 1, *stop = name;
    while (stop < end && *stop != '=' && *stop != '&' && *stop != '?')
        stop++;
    if (stop == end || *stop != '=' || !is_tracking(name, (size_t)(stop - name)))
        return at;
    while (stop < end && *stop != '&')
        stop++;
    return stop;
}

size_t without_tracking(slice url, char *to) {
    const char *at = memchr(url.at, '?', url.length), *end = url.at + url.length;
    char *out, *mark;
    size_t before = at == NULL ? url.length : (size_t)(at - url.at);
    memcpy(to, url.at, before);
    if (at == NULL)
        return before;
    out = to + before;
    while (at < end) {
        const char *behind = *at == '?' || *at == '&' ? tracking_end(at, end) : at;
        if (behind == at)
            *out++ = *at++;
        else
            at = behind;
    }
    if ((size_t)(out - to) != url.length && memchr(to, '?', (size_t)(out - to)) == NULL) {
        mark = memchr(to, '&', (size_t)(out - to));
        if (mark != NULL)
            *mark = '?';
    }
    return (size_t)(out - to);
}
