"""Bytes -> text, as browsers do it."""

from __future__ import annotations


def decode(body: bytes, charset: str | None) -> tuple[str, str]:
    """Text, and the name of the encoding it was read in. Never raises."""
    return body.decode("utf-8", "replace"), "utf-8"
