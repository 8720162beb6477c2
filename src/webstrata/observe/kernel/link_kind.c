/* The kind of a link. */
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
