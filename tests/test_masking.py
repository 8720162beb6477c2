"""Passwords in URLs are masked in every text, whatever form they have there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.masking import masked, masked_url, remember_secrets, secrets_of


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+psycopg://user:S3cret@host:5432/db", "postgresql+psycopg://user:***@host:5432/db"),
        ("postgresql://:S3cret@/db", "postgresql://:***@/db"),
        ("postgresql://user:S3/cr@et:x@host/db", "postgresql://user:***@host/db"),
        ("postgresql://user@host/db?password=S3cret&x=1", "postgresql://user@host/db?password=***&x=1"),
        ("postgresql://user@host/db?x=1&sslpassword=S3cret", "postgresql://user@host/db?x=1&sslpassword=***"),
        ("postgresql://user@host:5432/db", "postgresql://user@host:5432/db"),
        ("sqlite:////var/lib/a@b:c.db", "sqlite:////var/lib/a@b:c.db"),
    ],
)
def test_a_url_of_a_database(url: str, shown: str) -> None:
    """The password is masked in the user part and in the query; nothing else is."""
    assert masked_url(url) == shown
    assert masked(f"the database {url} refused") == f"the database {shown} refused"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://user:S3cret@host/x", "see https://***@host/x"),
        ("see 'http://token@host:99999/x'.", "see 'http://***@host:99999/x'."),
        ("https://host:8080/user@domain/?a=b:c@d", "https://host:8080/user@domain/?a=b:c@d"),
        ("https://host/?password=word", "https://host/?password=word"),
        ("write to someone@example.org: now", "write to someone@example.org: now"),
    ],
)
def test_a_url_of_a_page(text: str, shown: str) -> None:
    """The user part of a page's URL is masked; paths and queries of pages stay as they are."""
    assert masked(text) == shown


def test_parts_and_forms_of_a_password() -> None:
    """A password that another library has split, decoded or encoded is masked; the names beside it are not."""
    remember_secrets("postgresql://archiver:Tz7%40kw/Qx-vvvv@db.example/archiver")
    for quoted in ("Tz7@kw/Qx-vvvv", "Tz7%40kw/Qx-vvvv", "Tz7%40kw%2FQx-vvvv", "Qx-vvvv"):
        assert masked(f"failed to resolve host '{quoted}'") == "failed to resolve host '***'"
    assert masked("user archiver of db.example") == "user archiver of db.example"


def test_a_url_without_its_separator() -> None:
    """The password of a URL from which the @ or the scheme is missing is still taken for one; a port is not."""
    assert "Hid3den-pw" in secrets_of("postgresql://user:Hid3den-pw/db")
    assert "Hid3den-pw" in secrets_of("user:Hid3den-pw@host/db")
    assert secrets_of("postgresql://host:5432/db") == set()
    assert secrets_of("http://host:80") == set()
    assert secrets_of("sqlite:////srv/a.db") == set()


def test_a_short_password_is_masked_as_a_word() -> None:
    """A short password does not garble the words that contain it."""
    remember_secrets("postgresql://user:ab@host/db")
    assert masked("about ab") == "about ***"


@given(st.text(), st.text())
def test_any_text(url: str, text: str) -> None:
    """No URL and no text raises an exception."""
    assert isinstance(masked_url(url), str)
    assert isinstance(secrets_of(url), set)
    assert isinstance(masked(text), str)
