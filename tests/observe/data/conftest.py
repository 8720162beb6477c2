"""Settings for Hypothesis: how long one example takes says more about the machine than about the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("data", settings.get_profile("unhurried"), max_examples=60)
settings.load_profile("data")
