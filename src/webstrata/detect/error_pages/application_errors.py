"""Errors of applications and servers that print what went wrong: PHP messages, stack traces, pages of debuggers.

These have a form of their own, so that they are recognised without an earlier version and in pages of any length. An
article that quotes such a message has more text around it.
"""

from __future__ import annotations

import re

from webstrata.detect.error_pages.evidence import MAX_MARKUP_BYTES, PageEvidence

_TAIL_BYTES = 8_192
_PHP_LEVELS = (b"<b>Fatal error</b>:", b"<b>Parse error</b>:")
_PHP_END = re.compile(rb" on line <b>\d{1,7}</b>(?:<br ?/?>)?(?:\s|</[a-z]{1,10}>){0,40}\Z")
_PHP_MESSAGE = re.compile(
    r"(?P<level>(?:Fatal|Parse) error|Warning|Notice|Deprecated): (?:(?! on line \d).){1,3000}? on line \d{1,7}",
    re.DOTALL,
)
_MAX_BESIDE_PHP = 120
"""Letters of other text beside PHP messages, at most, if these are in place of the page."""

_DEBUGGERS = (
    (re.compile(r"// Werkzeug Debugger$"), b"", "Werkzeug debugger"),
    (re.compile(r"^Starlette Debugger$"), b"", "Starlette debugger"),
    (re.compile(r"^Action Controller: Exception caught$"), b"", "Rails error page"),
    (re.compile(r" at /"), b'content="NONE,NOARCHIVE"', "Django debug page"),
    (re.compile(r" at /"), b"__sinatra__", "Sinatra error page"),
    (re.compile(r"cannot handle your request$|^Application Debug|Error"), b"id=sanic", "Sanic error page"),
    (re.compile(r"\((?:4|5)\d\d [A-Z][A-Za-z ]+\)$"), b"Symfony Exception", "Symfony error page"),
    (re.compile(r"."), b"Illuminate\\\\", "Laravel error page"),
    (re.compile(r"."), b"rawExceptionStackTrace", "ASP.NET Core error page"),
    (re.compile(r"^Struts Problem Report$"), b"", "Struts error page"),
)
"""The title, bytes of the markup, and the name. Most pages are dismissed by their titles."""
_DEBUGGER_TITLE = re.compile(
    r"Debug|Exception|Error| at /|\((?:4|5)\d\d |SQLSTATE|Problem Report|cannot handle your request"
    r"|Undefined|Class \"|Call to"
)

_SIGNATURES = (
    ("Server Error in '", "ASP.NET error page"),
    ("Whitelabel Error Page", "Spring error page"),
    ("Software error:", "Perl CGI error"),
    ("Error displaying the error page: ", "Joomla error page"),
    ("Guru Meditation:", "Varnish error page"),
    ("Error Occurred While Processing Request", "ColdFusion error page"),
    ("You have an error in your SQL syntax; check the manual", "MySQL error message"),
    ("ORA-", "Oracle error message"),
    ("SQLSTATE[", "SQL error message"),
    ("The requested URL could not be retrieved", "Squid error page"),
    ("Application error: a client-side exception has occurred", "Next.js error page"),
    ("The website encountered an unexpected error", "Drupal error page"),
    ("Type Exception Report", "Tomcat error page"),
    ("Cannot GET /", "Express error page"),
    ("Sinatra doesn’t know this ditty", "Sinatra error page"),
)
"""Beginnings of lines that only such pages have, in main texts of at most `_MAX_SIGNED` letters."""
_MAX_SIGNED = 4_000
_IS_NOT_FOUND = re.compile(
    r"status=404|\b404\b|\b(?:Not|[Pp]age not) [Ff]ound\b|No route matches|Cannot GET /|know this ditty"
)
_NOT_FOUND_CHARS = 4_096

_TRACE_HEAD = re.compile(
    r"^(?:Traceback \(most recent call last\)|[\w.$]{0,200}(?:Exception|Error)\b|panic: |goroutine \d{1,9} \[)"
)
_TRACE_LINE = re.compile(r"\bat [\w.$<>/ ]{1,200}\(|\bFile \"[^\"\n]{1,300}\", line \d|\.go:\d|\bgoroutine \d")
_MIN_TRACE_LINES = 2


def application_error(evidence: PageEvidence) -> str | None:
    """What the application or the server printed in place of the page; None if it is another page.

    Of long pages only the title, and the end of the markup, count.
    """
    found = _php_at_the_end(evidence.body) or _debugger(evidence)
    if found is not None or not evidence.is_short:
        return found
    return _php_only(evidence) or _signature(evidence) or _trace(evidence)


def is_not_found(evidence: PageEvidence) -> bool:
    """Whether an application error says that the address does not exist."""
    shown = f"{evidence.title}\n{evidence.main[:_NOT_FOUND_CHARS]}" if evidence.is_short else evidence.title
    return _IS_NOT_FOUND.search(shown) is not None or b"No route matches" in evidence.body[:MAX_MARKUP_BYTES]


def _php_at_the_end(body: bytes) -> str | None:
    """A fatal error ends a PHP script: its message is the end of the page, however much was printed before."""
    tail = body[-_TAIL_BYTES:]
    if b" error</b>:" not in tail:
        return None
    start = max(tail.rfind(level) for level in _PHP_LEVELS)
    if start < 0 or _PHP_END.search(tail, start) is None:
        return None
    return "PHP parse error" if tail.startswith(b"<b>Parse", start) else "PHP fatal error"


def _php_only(evidence: PageEvidence) -> str | None:
    """PHP messages with next to nothing beside them."""
    if " on line " not in evidence.main:
        return None
    levels = [match["level"] for match in _PHP_MESSAGE.finditer(evidence.main)]
    beside = _PHP_MESSAGE.sub("", evidence.main)
    if not levels or len(beside) > _MAX_BESIDE_PHP:
        return None
    return f"PHP {levels[0].lower()}" + ("" if "error" in levels[0] else " and no content")


def _debugger(evidence: PageEvidence) -> str | None:
    if _DEBUGGER_TITLE.search(evidence.title) is None:
        return None
    head = evidence.body[:MAX_MARKUP_BYTES]
    return next((name for title, marker, name in _DEBUGGERS if title.search(evidence.title) and marker in head), None)


def _signature(evidence: PageEvidence) -> str | None:
    if evidence.length > _MAX_SIGNED:
        return None
    lines = "\n" + evidence.main
    return next((name for beginning, name in _SIGNATURES if "\n" + beginning in lines), None)


def _trace(evidence: PageEvidence) -> str | None:
    """A stack trace, from the beginning of the text to its end."""
    if not evidence.main or _TRACE_HEAD.match(evidence.main) is None:
        return None
    joined = " ".join(evidence.lines)
    frames = [match.start() for match in _TRACE_LINE.finditer(joined)]
    if len(frames) < _MIN_TRACE_LINES:
        return None
    largest = max(end - start for start, end in zip([0, *frames], [*frames, len(joined)], strict=True))
    return "stack trace in place of the page" if largest <= 400 else None
