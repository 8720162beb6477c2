from __future__ import annotations

import pytest

from tests.detect.error_pages.made_evidence import made_evidence
from webstrata.detect.error_pages.blocks import block_page, blocked_by, widget_page


@pytest.mark.parametrize(
    ("headers", "what"),
    [
        ({"cf-mitigated": "challenge"}, "Cloudflare challenge"),
        ({"x-dd-b": "2", "x-datadome": "protected"}, "DataDome block"),
        ({"x-vercel-mitigated": "challenge"}, "Vercel checkpoint"),
        ({"x-amzn-waf-action": "Challenge"}, "AWS WAF challenge"),
        ({"x-sucuri-block": "GEO02"}, "Sucuri block"),
        ({"x-datadome": "protected"}, None),
        ({"server": "cloudflare", "cf-ray": "8"}, None),
        ({}, None),
    ],
)
def test_headers(headers: dict[str, str], what: str | None) -> None:
    """Headers that declare a block name the service; those that every response of a service has do not."""
    assert blocked_by(headers) == what


def test_scripts_of_protected_pages() -> None:
    """A page with text of its own is ordinary, although the script of a service is on it."""
    script = '<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>'
    assert widget_page(made_evidence("", "", script)) == "Imperva challenge"
    assert widget_page(made_evidence("Boots", "Leather, sizes 36 to 45. " * 12, script)) is None
    assert block_page(made_evidence("Boots", "Leather", script)) is None


def test_forms_with_a_captcha() -> None:
    """A captcha that belongs to a form with fields is part of an ordinary page."""
    gate = '<form><div class="g-recaptcha"></div><input type="submit"></form>'
    assert widget_page(made_evidence("x", "Tick the box", gate)) == "captcha in place of the page"
    assert widget_page(made_evidence("x", "Write to us", f"{gate}<textarea></textarea>")) is None
    assert widget_page(made_evidence("x", "Write to us", f'{gate}<input type="email">')) is None
