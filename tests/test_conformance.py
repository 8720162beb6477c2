"""The extract of the outside suites that is part of the repository."""

from __future__ import annotations

import pytest

from tests.conformance.runner import EXTRACT, Family, known_families

FAMILIES = [family for family in known_families() if (EXTRACT / family.name).is_dir()]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_family_of_the_extract(family: Family) -> None:
    """Every case passes, or differs by a written choice."""
    verdict = family.run(EXTRACT / family.name)

    assert verdict.failed == []
    assert verdict.passed > 0
