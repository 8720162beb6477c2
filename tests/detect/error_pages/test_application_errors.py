from __future__ import annotations

import pytest

from tests.detect.error_pages.made_evidence import made_evidence
from webstrata.detect.error_pages.application_errors import application_error, is_not_found

FATAL = "<br />\n<b>Fatal error</b>:  Uncaught Error: x in /a.php:1\n  thrown in <b>/a.php</b> on line <b>1</b><br />\n"
TRACE = 'Traceback (most recent call last): File "/a.py", line 3, in f File "/b.py", line 4, in g KeyError: 1'


def test_php_fatal_error_after_content() -> None:
    """A fatal error ends the script: the page is incomplete, whatever was printed before."""
    page = made_evidence("Shop", "words " * 900, "<p>words</p>" * 900 + FATAL, is_short=False)
    assert application_error(page) == "PHP fatal error"
    assert application_error(made_evidence("Shop", "", FATAL.replace("Fatal", "Parse"))) == "PHP parse error"
    assert application_error(made_evidence("Shop", "words " * 90, FATAL + "<p>words</p>")) is None


@pytest.mark.parametrize(
    ("title", "main", "found"),
    [
        ("News", "Warning: include(a): No such file in /n.php on line 3", "PHP warning and no content"),
        ("News", "Warning: x in /n.php on line 3\n" + "The bridge is closed until Friday. " * 9, None),
        ("", TRACE, "stack trace in place of the page"),
        ("Answers", f"Why does this fail?\n{TRACE}\nThe key is missing.", None),
        ("", "Server Error in '/' Application.\nRuntime Error", "ASP.NET error page"),
        ("", "Whitelabel Error Page\nstatus=404", "Spring error page"),
        ("Annual report", "Profits rose.", None),
    ],
)
def test_forms(title: str, main: str, found: str | None) -> None:
    """Messages and traces in place of the page are named; a page that quotes one is another page."""
    assert application_error(made_evidence(title, main)) == found


def test_missing_addresses() -> None:
    """An application error may say that the address does not exist."""
    assert is_not_found(made_evidence("", "Whitelabel Error Page\nstatus=404"))
    assert not is_not_found(made_evidence("", "Whitelabel Error Page\nstatus=500"))
    assert is_not_found(made_evidence("Page not found at /x", is_short=False))


def test_hostile_texts() -> None:
    """Texts that repeat the beginning of a message do not take time that grows with their square."""
    for text in ("Fatal error: " * 300, "<input " * 9_000, "at a(" * 800, 'File "' * 600, " on line " * 400):
        assert application_error(made_evidence(text[:90], text[:4_000], text)) is None
