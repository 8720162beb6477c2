"""What the address of a response says: a redirect to a sign-in page, to a consent page or to an error page."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, unquote, urlsplit

_SIGN_IN_NAME = (
    r"log-?in|log_in|log-?on|signin|sign-in|sign_in|wp-login|anmelden|anmeldung|einloggen|connexion|acceder|entrar"
    r"|inloggen|logowanie|giris|accesso|iniciar-sesion"
)
_AUTH_NAME = r"signup|authwall|auth|authorize|authenticate|authentication|sso|wayf|password"
"""Names of steps of signing in, which are also names of ordinary parts of sites."""
_ENDING = r"(?:\.[a-z]{2,6})?(?:[/;]|$)"
_SIGN_IN_PATH = re.compile(rf"/(?:[\w-]{{1,30}}[.:])?(?:{_SIGN_IN_NAME}){_ENDING}", re.IGNORECASE)
_AUTH_PATH = re.compile(rf"/(?:{_AUTH_NAME}){_ENDING}", re.IGNORECASE)
_SIGN_IN_QUERY = re.compile(r"(?:^|[&;])(?:do|action|mode|view|title|task)=(?:[\w-]{1,20}:)?(?:user)?log_?in\b", re.I)
_SIGN_IN_HOST = re.compile(
    r"^(?:login|signin|sso|idp|auth|accounts?|cas|wayf|id)\.|\.(?:okta|auth0|onelogin)\.com$", re.IGNORECASE
)
_RETURN = re.compile(
    r"(?:^|[&;])(?:redirect_?ur[il]|return|return_?(?:to|url|path)|next|continue|service|client_id|samlrequest|relaystate"
    r"|entityid|fromuri|sessionredirect|os_destination|redirect_to|retpath|state)=",
    re.IGNORECASE,
)
_CONSENT = re.compile(r"^consent\.|/(?:collect)?consent(?:/|$)|/cookiewall(?:/|$)|/cmp/", re.IGNORECASE)
_ERROR_PATH = re.compile(
    r"/(?:error-?|err-?|page-?|http-?)?(?:404|410|not-?found|notfound|page-?not-?found|seite-nicht-gefunden)(?:\.[a-z]{2,6})?"
    r"(?:/|$)",
    re.IGNORECASE,
)
_OUTAGE_PATH = re.compile(
    r"/(?:error-?|err-?)?(?:500|502|503|maintenance|suspendedpage|defaultwebpage|error|errorpage)(?:\.[a-z]{2,6})?(?:/|$)",
    re.IGNORECASE,
)
_ABOUT_ERRORS = re.compile(
    r"(?:^|[/_=.-])(?:40[0-9]|410|429|50[0-9]|not-?found|errors?|maintenance)(?=$|[/_.&-])", re.I
)
_MAX_URL = 2_000


def names_sign_in(url: str) -> bool:
    """Whether the path or the query of a URL names sign-in, so that a sign-in page is what its user asked for."""
    parts = _split(url)
    return (
        _SIGN_IN_PATH.search(unquote(parts.path)) is not None or _SIGN_IN_QUERY.search(unquote(parts.query)) is not None
    )


def names_an_error(url: str) -> bool:
    """Whether a URL names a status code or an error: such a page may be about errors."""
    parts = _split(url)
    return _ABOUT_ERRORS.search(parts.path) is not None


def leads_to_sign_in(requested: str, address: str) -> bool:
    """Whether a redirect led from a page to a sign-in page."""
    if names_sign_in(requested):
        return False
    here, there = _split(requested), _split(address)
    if names_sign_in(address) or (_AUTH_PATH.search(there.path) and not _AUTH_PATH.search(here.path)):
        return True
    return there.netloc != here.netloc and (
        _SIGN_IN_HOST.search(there.netloc) is not None and _RETURN.search(there.query) is not None
    )


def leads_to_consent(requested: str, address: str) -> bool:
    """Whether a redirect led to a page that asks for consent to cookies."""
    there = _split(address)
    found = _CONSENT.search(there.netloc) or _CONSENT.search(there.path)
    return found is not None and _split(requested).netloc != there.netloc


def names_not_found(url: str) -> bool:
    """Whether a URL is that of a page for missing pages, such as `/404.html`."""
    return _names(_ERROR_PATH, url)


def leads_to_not_found(requested: str, address: str) -> bool:
    """Whether a redirect led to an address that names a missing page."""
    return names_not_found(address) and not names_not_found(requested)


def leads_to_outage(requested: str, address: str) -> bool:
    """Whether a redirect led to an address that names an error of the server."""
    return _names(_OUTAGE_PATH, address) and not _names(_OUTAGE_PATH, requested)


def _names(pattern: re.Pattern[str], url: str) -> bool:
    return pattern.search(_split(url).path) is not None


def _split(url: str) -> SplitResult:
    """The parts of a URL; empty ones if it is not valid."""
    try:
        return urlsplit(url[:_MAX_URL])
    except ValueError:
        return SplitResult("", "", "", "", "")
