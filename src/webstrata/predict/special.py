"""Functions over arrays: log gamma, digamma, and the Beta distribution."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days

_SHIFT = 8.0  # from here on the asymptotic series are exact to the last digits
_TERMS = 300


def log_gamma(a: Days) -> Days:
    """ln Γ(a) for a > 0, to about 1e-13."""
    product, at = np.ones_like(a), a.astype(np.float64).copy()
    for _ in range(int(_SHIFT)):
        small = at < _SHIFT
        if not small.any():
            break
        product = np.where(small, product * at, product)
        at = np.where(small, at + 1, at)
    inverse = 1 / (at * at)
    series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / at
    logs: Days = (at - 0.5) * np.log(at) - at + 0.5 * np.log(2 * np.pi) + series - np.log(product)
    return logs


def digamma(a: Days) -> Days:
    """The derivative of ln Γ for a > 0."""
    sums, at = np.zeros_like(a), a.astype(np.float64).copy()
    for _ in range(int(_SHIFT)):
        small = at < _SHIFT
        sums = np.where(small, sums - 1 / at, sums)
        at = np.where(small, at + 1, at)
    inverse = 1 / (at * at)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132))))
    return sums + np.log(at) - 0.5 / at - series


def beta_distribution(a: Days, b: Days, x: Days) -> Days:
    """P(X <= x) for X of the Beta distribution with parameters a and b; 1 where a <= 0, 0 where b <= 0."""
    first, second = np.maximum(a, 1e-12), np.maximum(b, 1e-12)
    mirrored = x > (first + 1) / (first + second + 2)
    one, other = np.where(mirrored, second, first), np.where(mirrored, first, second)
    at = np.where(mirrored, 1 - x, x)
    whole, parts, others = log_gamma(np.stack([one + other, one, other]))
    logs = whole - parts - others + one * np.log(at) + other * np.log1p(-at)
    part = np.exp(logs) * _beta_fraction(one, other, at) / one
    share: Days = np.clip(np.where(mirrored, 1 - part, part), 0.0, 1.0)
    return np.where(a <= 0, 1.0, np.where(b <= 0, 0.0, share))


def _beta_fraction(a: Days, b: Days, x: Days) -> Days:
    """Lentz's continued fraction of the incomplete Beta function, for x < (a + 1) / (a + b + 2)."""
    c, d = np.ones_like(x), 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    total = d.copy()
    for n in range(1, _TERMS):
        even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n))
        odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1))
        for factor in (even, odd):
            d = 1 / _away_from_zero(1 + factor * d)
            c = _away_from_zero(1 + factor / c)
            total = total * d * c
        if not (np.abs(d * c - 1) > 1e-13).any():
            break
    return total


def _away_from_zero(values: Days) -> Days:
    return np.where(np.abs(values) < 1e-300, 1e-300, values)
