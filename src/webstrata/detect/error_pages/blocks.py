"""Pages of services that keep crawlers out: challenges, captchas and refusals, by their technical markers.

Headers and some scripts occur on such pages only. Widgets (a captcha in a form) and scripts of a service also occur on
ordinary pages that it protects: these count only if the page has next to no text and no other form fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from webstrata.detect.error_pages.evidence import PageEvidence

BLOCK_HEADERS: dict[str, tuple[frozenset[str] | None, str]] = {
    "cf-mitigated": (frozenset({"challenge", "block"}), "Cloudflare challenge"),
    "x-dd-b": (frozenset({"1", "2"}), "DataDome block"),
    "x-datadome": (frozenset({"blocked", "captcha", "challenge"}), "DataDome block"),
    "x-vercel-mitigated": (frozenset({"challenge", "deny"}), "Vercel checkpoint"),
    "x-amzn-waf-action": (frozenset({"challenge", "captcha", "block"}), "AWS WAF challenge"),
    "x-sucuri-block": (None, "Sucuri block"),
    "x-kasada-challenge": (None, "Kasada challenge"),
}
"""Header -> its values that declare a block (None: any value), and what it is."""

_SCRIPTED = (
    ("captcha-delivery.com/", "DataDome block"),
    ("_cf_chl_opt", "Cloudflare challenge"),
    ("/orchestrate/chl_page", "Cloudflare challenge"),
    ('id="cf-error-details"', "Cloudflare block"),
    ("/_incapsula_resource?swudnsai", "Imperva block"),
    ("reeseskipexpirationcheck", "Imperva block"),
    ('id="px-captcha"', "HUMAN challenge"),
    ("window.gokuprops", "AWS WAF challenge"),
    ("awswafintegration.checkforcerefresh", "AWS WAF challenge"),
    ("window.kpsdk", "Kasada challenge"),
    ("sucuri_cloudproxy_js", "Sucuri challenge"),
    ("bobcmn", "F5 bot defense"),
    ("/tspd/", "F5 bot defense"),
    ('id="anubis_challenge"', "Anubis challenge"),
    ("/.within.website/x/cmd/anubis/", "Anubis challenge"),
    ("/_sec/cp_challenge/", "Akamai challenge"),
    ('id="sec-cpt-if"', "Akamai challenge"),
    ("/.well-known/ddos-guard/js-challenge", "DDoS-Guard challenge"),
    ("cdn.perfdrive.com/", "Radware block"),
    ("window.rbzns", "Reblaze challenge"),
    ("_____tmd_____", "Alibaba captcha"),
    ("x5secdata", "Alibaba captcha"),
    ("/errors/validatecaptcha", "captcha in place of the page"),
    ("/checkcaptcha", "captcha in place of the page"),
    ("static.queue-it.net/", "Queue-it waiting room"),
)
"""Markers of block pages (in lower case) and what they show."""

_WIDGETS = (
    ("h-captcha", "captcha in place of the page"),
    ("g-recaptcha", "captcha in place of the page"),
    ("cf-turnstile", "captcha in place of the page"),
    ("frc-captcha", "captcha in place of the page"),
    ("altcha-widget", "captcha in place of the page"),
    ("geetest.com/", "captcha in place of the page"),
    ("arkoselabs.com/", "captcha in place of the page"),
    ("/_incapsula_resource?", "Imperva challenge"),
    (".awswaf.com/", "AWS WAF challenge"),
)
"""Markers that ordinary pages have as well."""

_CERTAIN_TITLE = re.compile(
    r"just a moment\W*|attention required! \| cloudflare|ddos-guard|(human|bot) verification|captcha challenge"
    r"|request rejected|radware bot manager.*"
    r"|access to this page has been denied\.?|vercel security checkpoint|sucuri website firewall.*"
    r"|pardon our interruption|making sure you['’]re not a bot\W*",
    re.IGNORECASE,
)
_MAX_SCRIPTED_LENGTH = 1_200
"""Letters of main text of a page with a marker of `_SCRIPTED`."""
_MAX_WIDGET_LENGTH = 250
"""The same for `_WIDGETS`."""
_MAX_TITLED_LENGTH = 600
_MAX_WIDGET_LINKS = 3
_FIELD = re.compile(r"<textarea\b|<select\b|<input\b(?![^>]{0,300}\btype=[\"']?(?:hidden|submit|button|checkbox))")


def blocked_by(headers: Mapping[str, str]) -> str | None:
    """What the headers of a response declare: the block of a service, or None. Holds for any status."""
    for name in BLOCK_HEADERS.keys() & headers.keys():
        values, what = BLOCK_HEADERS[name]
        if values is None or headers[name].strip().lower() in values:
            return what
    return None


def block_page(evidence: PageEvidence) -> str | None:
    """What a page with little text shows that is certainly the page of such a service; None for other pages."""
    if evidence.length > _MAX_SCRIPTED_LENGTH:
        return None
    if evidence.length <= _MAX_TITLED_LENGTH and _CERTAIN_TITLE.fullmatch(evidence.title):
        return f"block page “{evidence.title[:60]}”"
    visible = ""
    for marker, what in _SCRIPTED:
        if marker in evidence.markup:
            visible = visible or evidence.text.lower()
            # A page that shows the marker to its readers is about it.
            if marker not in visible:
                return what
    return None


def widget_page(evidence: PageEvidence) -> str | None:
    """What a page consists of whose only content is a captcha or the script of a service; None for other pages."""
    if evidence.length > _MAX_WIDGET_LENGTH or evidence.now.link_count > _MAX_WIDGET_LINKS:
        return None
    what = next((what for marker, what in _WIDGETS if marker in evidence.markup), None)
    return what if what is not None and _FIELD.search(evidence.markup) is None else None
