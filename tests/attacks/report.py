"""The figures of an attack as text, and which parts of the invariant are broken."""

from __future__ import annotations

from collections.abc import Container

from tests.attacks.attack import AttackResult
from tests.attacks.figures import (
    MAX_DELAY_S,
    MAX_MAIN_MB,
    MAX_MEDIAN_DELAY_S,
    MAX_STOP_S,
    MAX_TOTAL_MB,
    together,
)

_MAX_ROWS = 10


def broken(result: AttackResult, ignored: Container[str] = ()) -> list[str]:
    """The parts of the invariant that do not hold. `ignored`: rules that a fault breaks by its nature."""
    every = together(result.healthy)
    gaps, not_met = result.gaps, ", ".join(result.not_met[:_MAX_ROWS])
    rules = [
        ("delays", every.median_s >= MAX_MEDIAN_DELAY_S, f"median delay {every.median_s:.1f} s"),
        ("delays", every.max_s >= MAX_DELAY_S, f"longest delay {every.max_s:.1f} s"),
        ("gaps", bool(gaps.short), f"{len(gaps.short)} of {gaps.counted} gaps too short"),
        ("memory", result.main_peak_mb > MAX_MAIN_MB, f"main process {result.main_peak_mb:.0f} MB"),
        ("memory", result.total_peak_mb > MAX_TOTAL_MB, f"all processes {result.total_peak_mb:.0f} MB"),
        ("stop", result.stop_s > MAX_STOP_S, f"stopped after {result.stop_s:.1f} s"),
        ("forbidden", bool(result.forbidden), f"{len(result.forbidden)} forbidden connections"),
        ("check", result.check_code != 0, f"check ended with {result.check_code}"),
        ("exit", result.ended_early, "the crawler ended by itself"),
        ("exit", result.exit_code != 0, f"run ended with {result.exit_code}"),
        ("exceptions", bool(result.unhandled), f"{len(result.unhandled)} unhandled exceptions"),
        ("met", bool(result.not_met), f"{len(result.not_met)} behaviours were not met: {not_met}"),
    ]
    return [text for rule, is_broken, text in rules if is_broken and rule not in ignored]


def report(result: AttackResult) -> list[str]:
    """The figures, line by line."""
    lines = [
        f"{result.behaviours} behaviours, {result.behaviours - len(result.not_met)} met, in {result.seconds:.0f} s",
        f"{result.requests} requests at hostile hosts, {result.sent_mb:,.0f} MB sent to the crawler",
        f"{'healthy host':<18}{'scheduled':>10}{'visits':>8}{'median delay':>14}{'longest':>10}",
    ]
    lines += [
        f"{row.host:<18}{row.scheduled:>10}{row.visits:>8}{row.median_s:>12.2f} s{row.max_s:>8.1f} s"
        for row in (*result.healthy, together(result.healthy))
    ]
    gaps = result.gaps
    lines.append(
        f"gaps: {gaps.counted} counted, {len(gaps.short)} too short, shortest {gaps.least_share:.2f} of the promise"
    )
    worst = sorted(gaps.short, key=lambda gap: gap.gap_s / gap.promised_s)[:_MAX_ROWS]
    lines += [f"  {gap.host}: {gap.gap_s:.3f} s, promised {gap.promised_s:g} s" for gap in worst]
    lines.append(
        f"peak memory: main {result.main_peak_mb:.0f} MB, parsers {result.others_peak_mb:.0f} MB, "
        f"together {result.total_peak_mb:.0f} MB"
    )
    killed = " (killed)" if result.was_killed else ""
    lines.append(f"stopped in {result.stop_s:.1f} s{killed}, exit code {result.exit_code}, check {result.check_code}")
    lines.append(f"forbidden connections: {len(result.forbidden)}; unhandled exceptions: {len(result.unhandled)}")
    lines += [f"  {line}" for line in (*result.forbidden[:_MAX_ROWS], *result.unhandled[:_MAX_ROWS])]
    lines += [f"{name}: {value:g}" for name, value in result.notes.items()]
    if result.ended_early or result.check_code:
        lines += [f"  {line}" for line in (*result.log_end, *result.check_output.splitlines()[-3:])]
    return lines
