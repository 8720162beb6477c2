/* The text by which a link is compared: URLs that lead to the same page in most cases have the same text.
 *
 * The rules are those of docs/reference/fingerprint.md, section 6; python_links.py implements the same functions and
 * has the same names of parameters.
 */
#include <string.h>

#include "kernel.h"

#define LONGEST_NAME 32
#define SHORTEST_TOKEN 16

static const char *const TRACKING[] = {
    "__hsfp", "__hssc", "__hstc", "_branch_match_id", "_bta_c", "_bta_tid", "_ga", "_gac", "_gl", "_hsenc", "_hsmi",
    "_kx", "_openstat", "at_campaign", "at_medium", "awc", "cjevent", "cmpid", "dclid", "dm_i", "ef_id", "elqtrack",
    "elqtrackid", "epik", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "fbclid", "gad_campaignid",
    "gad_source", "gbraid", "gclid", "gclsrc", "guccounter", "guce_referrer", "guce_referrer_sig", "hsctatracking",
    "icid", "igsh", "igshid", "irclickid", "irgwc", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "ml_subscriber",
    "ml_subscriber_hash", "msclkid", "ncid", "ns_campaign", "ns_linkname", "ns_mchannel", "ns_source", "oly_anon_id",
    "oly_enc_id", "piwik_campaign", "piwik_keyword", "piwik_kwd", "pk_campaign", "pk_cid", "pk_content", "pk_keyword",
    "pk_kwd", "pk_medium", "pk_source", "rb_clickid", "ref_src", "ref_url", "s_cid", "s_kwcid", "sc_cid", "scm",
    "soc_src", "soc_trk", "spm", "srsltid", "trkcampaign", "ttclid", "twclid", "vero_conv", "vero_id", "wbraid",
    "wickedid", "wprov", "wt.mc_id", "wt_mc", "wt_zmc", "xtor", "yadclid", "yclid", "ysclid", "zanpid"};
static const char *const CAMPAIGNS[] = {"hsa_", "matomo_", "mtm_", "utm_"}; /* beginnings of names */
static const char *const SESSIONS[] = {"cfid",  "cftoken", "cgisessid",  "jsessionid", "oscsid", "phpsessid",
                                       "sessid", "session_id", "sessionid", "xtcsid", "zenid"};
static const char *const TOKEN_SESSIONS[] = {"s", "session", "sid", "ssid"}; /* only with a token as value */

#define COUNT(names) (sizeof(names) / sizeof *(names))

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static int is_one_of(slice name, const char *const *names, size_t number) {
    for (size_t i = 0; i < number; i++)
        if (names[i][0] == name.at[0] && strlen(names[i]) == name.length && !memcmp(names[i], name.at, name.length))
            return 1;
    return 0;
}

static int is_campaign(slice name) {
    for (size_t i = 0; i < COUNT(CAMPAIGNS); i++)
        if (name.length > strlen(CAMPAIGNS[i]) && begins(name, CAMPAIGNS[i]))
            return 1;
    return 0;
}

static int is_token(const char *at, const char *end) {
    int has_digit = 0;
    if (end - at < SHORTEST_TOKEN)
        return 0;
    for (; at < end; at++) {
        has_digit |= is_digit(*at);
        if (!is_digit(*at) && !is_letter(*at) && *at != '-' && *at != '_' && *at != ',' && *at != '.')
            return 0;
    }
    return has_digit;
}

/* Whether a parameter `name=value` says only who follows the link, or from where. */
static int is_dropped(const char *at, const char *end, int is_in_path) {
    const char *equals = memchr(at, '=', (size_t)(end - at));
    char text[LONGEST_NAME];
    slice name = {text, 0};
    if (equals == NULL || equals == at || equals - at > LONGEST_NAME)
        return 0;
    for (; at < equals; at++)
        text[name.length++] = lower(*at);
    if (is_one_of(name, SESSIONS, COUNT(SESSIONS)) || (name.length > 12 && begins(name, "aspsessionid")))
        return 1;
    if (is_one_of(name, TOKEN_SESSIONS, COUNT(TOKEN_SESSIONS)))
        return is_token(equals + 1, end);
    return !is_in_path && (is_campaign(name) || is_one_of(name, TRACKING, COUNT(TRACKING)));
}

/* Whether a segment is the session of ASP.NET without cookies: `(S(token))`, with one or more such groups. */
static int is_session_segment(const char *at, const char *end) {
    if (end - at < 2 || *at != '(' || end[-1] != ')')
        return 0;
    at++;
    end--;
    if (at == end)
        return 0;
    while (at < end) {
        const char *start = at + 2;
        if (end - at < 2 || !is_letter(at[0]) || at[1] != '(')
            return 0;
        for (at = start; at < end && (is_digit(*at) || is_letter(*at) || *at == '-' || *at == '_'); at++)
            ;
        if (at == end || *at != ')' || at - start < 8)
            return 0;
        at++;
    }
    return 1;
}

/* Writes a segment, which begins with a slash, without sessions. */
static char *put_segment(const char *at, const char *end, char *to) {
    char *start = to;
    while (at < end) {
        const char *stop = memchr(at + 1, ';', (size_t)(end - at - 1));
        stop = stop == NULL ? end : stop;
        if (*at != ';' || !is_dropped(at + 1, stop, 1)) {
            memcpy(to, at, (size_t)(stop - at));
            to += stop - at;
        }
        at = stop;
    }
    return is_session_segment(start + 1, to) ? start : to;
}

static char *put_path(const char *at, const char *end, char *to) {
    char *start = to;
    while (at < end) {
        const char *stop = memchr(at + 1, '/', (size_t)(end - at - 1));
        stop = stop == NULL ? end : stop;
        to = put_segment(at, stop, to);
        at = stop;
    }
    while (to > start && to[-1] == '/')
        to--;
    return to;
}

static char *put_query(const char *at, const char *end, char *to) {
    char separator = '?';
    while (at < end) {
        const char *stop = ++at; /* after the separator */
        while (stop < end && *stop != '&' && *stop != '?')
            stop++;
        if (stop > at && !is_dropped(at, stop, 0)) {
            *to++ = separator;
            separator = '&';
            memcpy(to, at, (size_t)(stop - at));
            to += stop - at;
        }
        at = stop;
    }
    return to;
}

/* Writes the text by which a canonical URL is compared; it is at most one byte longer. Other texts are copied. */
size_t link_text(slice url, char *to) {
    const char *at = url.at, *end = url.at + url.length, *query, *path;
    char *out = to;
    if (!begins(url, "http://") && !begins(url, "https://")) {
        memcpy(to, url.at, url.length);
        return url.length;
    }
    at += url.at[4] == ':' ? 7 : 8;
    memcpy(out, "https://", 8);
    out += 8;
    query = memchr(at, '?', (size_t)(end - at));
    query = query == NULL ? end : query;
    path = memchr(at, '/', (size_t)(query - at));
    path = path == NULL ? query : path;
    memcpy(out, at, (size_t)(path - at));
    out += path - at;
    if (path - at > 3 && memcmp(out - 3, ":80", 3) == 0)
        out -= 3;
    else if (path - at > 4 && memcmp(out - 4, ":443", 4) == 0)
        out -= 4;
    out = put_path(path, query, out);
    out = put_query(query, end, out);
    return (size_t)(out - to);
}

static int begins_in_any_case(slice text, const char *with) {
    size_t length = strlen(with);
    if (text.length < length)
        return 0;
    for (size_t i = 0; i < length; i++)
        if (lower(text.at[i]) != with[i])
            return 0;
    return 1;
}

static int is_hex(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

/* The digits of a telephone number; escaped characters are no digits. */
static char *put_number(const char *at, const char *end, char *to) {
    for (; at < end; at++)
        if (*at == '%' && end - at > 2 && is_hex(at[1]) && is_hex(at[2]))
            at += 2;
        else if (is_digit(*at))
            *to++ = *at;
    return to;
}

/* An address in lower case, without blanks; an escaped @ is unescaped, escaped spaces at both ends are removed. */
static char *put_address(const char *at, const char *end, char *to) {
    char *start = to, *from, *out;
    for (; at < end; at++)
        if ((unsigned char)*at > ' ' && *at != 0x7F)
            *to++ = lower(*at);
    for (from = out = start; from < to; from++)
        if (to - from > 2 && memcmp(from, "%40", 3) == 0) {
            *out++ = '@';
            from += 2;
        } else
            *out++ = *from;
    while (out - start > 2 && memcmp(out - 3, "%20", 3) == 0)
        out -= 3;
    for (from = start; out - from > 2 && memcmp(from, "%20", 3) == 0; from += 3)
        ;
    memmove(start, from, (size_t)(out - from));
    return start + (out - from);
}

/* Whether an address is a contact. Its text, which is never longer, is added to `to`, followed by a 0. */
int read_contact(slice href, buffer *to, int *is_put) {
    static const char *const schemes[] = {"mailto:", "tel:"};
    *is_put = 1;
    while (href.length && (unsigned char)*href.at <= ' ') {
        href.at++;
        href.length--;
    }
    for (size_t i = 0; i < COUNT(schemes); i++)
        if (begins_in_any_case(href, schemes[i])) {
            size_t head = strlen(schemes[i]);
            const char *at = href.at + head, *end = at;
            char *start = tail(to, href.length + 1), *out;
            if (start == NULL)
                return *is_put = 0, 1;
            while (end < href.at + href.length && *end != '?' && *end != '#')
                end++;
            memcpy(start, schemes[i], head);
            out = i == 0 ? put_address(at, end, start + head) : put_number(at, end, start + head);
            if (out > start + head && out - start <= LONGEST_URL) {
                *out++ = 0;
                to->length += (size_t)(out - start);
            }
            return 1;
        }
    return 0;
}
