"""Numbers in sentences: the noun and the verb agree with the number."""

from __future__ import annotations


def counted(number: int | str, noun: str, nouns: str = "") -> str:
    """A number with its noun: `1 page`, `2 pages`; `nouns` is the plural if it has no `s` at its end (`entries`).

    A number that needs a format is given as text: `counted(f"{number:,}", "page")`.
    """
    return f"{number} {agreeing(number, noun, nouns or f'{noun}s')}"


def agreeing(number: int | str, one: str, more: str) -> str:
    """The word that agrees with the number: `agreeing(1, "was", "were")`."""
    return one if str(number) == "1" else more
