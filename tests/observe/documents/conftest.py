"""Settings for Hypothesis: fewer examples, because each parses a document."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("documents", settings(), max_examples=40, deadline=None)
settings.load_profile("documents")
