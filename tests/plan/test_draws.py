"""Pseudo-random numbers by key."""

from __future__ import annotations

import numpy as np

from webstrata.plan.draws import keys, normals, uniforms

HOSTS = keys([f"{n}.example" for n in range(2000)])


def test_numbers_belong_to_their_place() -> None:
    """A number depends only on host, replicate and count, and differs if one of them does."""
    together = uniforms(HOSTS, 3, np.arange(2000))
    alone = uniforms(HOSTS[7:8], 3, np.array([7]))

    assert together[7] == alone[0]
    assert len(np.unique(together)) == 2000
    assert not np.any(together == uniforms(HOSTS, 4, np.arange(2000)))
    assert not np.any(together == uniforms(HOSTS, 3, np.arange(1, 2001)))


def test_numbers_are_spread_evenly() -> None:
    """Uniform numbers are even over hosts, counts and replicates; normal numbers have mean 0 and deviation 1."""
    for found in (
        uniforms(HOSTS, 0, 5),
        uniforms(HOSTS[:1], 1, np.arange(2000)),
        np.array([uniforms(HOSTS[:1], replicate, 0)[0] for replicate in range(2000)]),
    ):
        assert np.all((found >= 0) & (found < 1))
        assert abs(np.histogram(found, 10, (0, 1))[0] - 200).max() < 70
    drawn = normals(HOSTS, 1, 0)
    assert abs(drawn.mean()) < 0.1
    assert abs(drawn.std() - 1) < 0.1
