"""Settings for Hypothesis: fewer examples, because graphs and tables take long."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("data", settings(), max_examples=60)
settings.load_profile("data")
