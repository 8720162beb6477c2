"""The short form of `make attack`: all hostile hosts at once, for half a minute.

Only what does not depend on the speed of the machine is asserted; delays in seconds are measured by `make attack`.
"""

from __future__ import annotations

import pytest

from tests.attacks.attack import AttackPlan, AttackResult, run_attack
from tests.attacks.figures import MAX_MAIN_MB, MAX_TOTAL_MB
from tests.attacks.zoo import BEHAVIOURS

SHORT = AttackPlan(
    behaviours=BEHAVIOURS,
    seconds=25.0,
    max_seconds=90.0,
    rhythm_s=10.0,
    hostile_rhythm_s=60.0,
    quiet_s=12.0,
    gap_tolerance_s=0.5,
)
"""On a busy machine the attack goes on until every behaviour was met. Arrival times are those of the kernel, but a busy
sender may be delayed between reading its clock and sending: hence the tolerance."""
MAX_DELAY_S = 30.0
MAX_STOP_S = 60.0


@pytest.mark.timeout(280)
def test_hostile_hosts_harm_no_other_host() -> None:
    """Whatever the hostile hosts do, healthy pages are visited, gaps are kept, memory is bounded, and stop stops."""
    result = run_attack(SHORT)

    assert result.not_met == ()
    assert _starved(result) == []
    assert result.gaps.short == ()
    assert result.forbidden == ()
    assert result.main_peak_mb < MAX_MAIN_MB
    assert result.total_peak_mb < MAX_TOTAL_MB
    assert result.unhandled == ()
    assert (result.ended_early, result.was_killed, result.exit_code) == (False, False, 0)
    assert result.stop_s < MAX_STOP_S
    assert result.check_code == 0, result.check_output


def _starved(result: AttackResult) -> list[str]:
    """Healthy hosts that were visited too rarely, or much too late."""
    return [
        f"{row.host}: {row.visits} of {row.scheduled} visits, longest delay {row.max_s:.1f} s"
        for row in result.healthy
        if row.visits < max(2, row.scheduled / 3) or row.max_s > MAX_DELAY_S
    ]
