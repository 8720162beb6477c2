"""Attacks on packages with certificates: an honest capture is edited and packed again, and both verifiers check it."""

from __future__ import annotations

from importlib import import_module

from tests.attacks.forgery.attack_list import ATTACKS, Forgery

GROUPS = ("zip", "signature", "record", "index", "statement")


def every_attack() -> list[Forgery]:
    """All attacks, group by group."""
    for group in GROUPS:
        import_module(f"tests.attacks.forgery.{group}_attacks")
    return ATTACKS
