"""Functions of the Gamma and Beta distributions over arrays: log gamma, digamma, distribution functions, quantiles."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
_SHIFT = 8.0  # from here on the asymptotic series are exact to the last digits
_TERMS = 300
_NEWTON = 40


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


def gamma_distribution(a: Days, x: Days) -> Days:
    """P(X <= x) for X of the Gamma distribution with shape a and scale 1."""
    a, x = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.maximum(np.asarray(x, dtype=np.float64), 1e-300))
    front = np.exp(a * np.log(x) - x - log_gamma(a))
    return np.where(x < a + 1, front * _series(a, x), 1 - front * _fraction(a, x))


def _series(a: Days, x: Days) -> Days:
    term = 1 / a
    total, at = term.copy(), a.copy()
    for _ in range(_TERMS):
        at = at + 1
        term = term * np.minimum(x, a + 1) / at
        total = total + term
        if not (term > 1e-16 * total).any():
            break
    return total


def _fraction(a: Days, x: Days) -> Days:
    """Lentz's continued fraction for the upper tail."""
    x = np.maximum(x, a + 1)
    b = x + 1 - a
    c, d = np.full_like(b, 1e300), 1 / b
    total = d.copy()
    for n in range(1, _TERMS):
        factor = -n * (n - a)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        total = total * d * c
        if not (np.abs(d * c - 1) > 1e-15).any():
            break
    return total


def gamma_quantile(share: float, a: Days) -> Days:
    """The x with P(X <= x) = share. Shapes above 200 use the approximation of Wilson and Hilferty, good to 1e-5."""
    a = np.asarray(a, dtype=np.float64)
    normal = -NORMAL if share == 0.025 else NORMAL if share == 0.975 else _normal_quantile(share)
    cube = 1 - 1 / (9 * a) + normal / (3 * np.sqrt(a))
    start = np.where(cube > 0, a * cube**3, 0.0)
    small = np.exp((np.log(share) + log_gamma(a + 1)) / a)
    x = np.log(np.maximum(np.where((a < 1) | (start <= small), small, start), 1e-300))
    done = a > 200
    for _ in range(_NEWTON):
        at = np.exp(np.where(done, 0.0, x))
        density = np.exp(np.clip(a * x - at - log_gamma(a), -700, 700))
        step = np.clip((gamma_distribution(np.where(done, 1.0, a), at) - share) / np.maximum(density, 1e-300), -1, 1)
        x = np.where(done, x, x - step)
        if not (np.abs(step[~done]) > 1e-12).any():
            break
    return np.where(done, start, np.exp(x))


def _normal_quantile(share: float) -> float:
    """By bisection of the error function; only for unusual shares."""
    from math import erf, sqrt

    low, high = -10.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 + erf(middle / sqrt(2))) / 2 < share else (low, middle)
    return low


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
