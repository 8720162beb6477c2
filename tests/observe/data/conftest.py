"""Settings for Hypothesis: no deadline for an example, because machines differ; fewer examples."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("data", settings.get_profile("unhurried"), max_examples=60)
settings.load_profile("data")
