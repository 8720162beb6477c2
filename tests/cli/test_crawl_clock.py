"""`webstrata crawl` and `status` on a machine whose system clock is set between two calls, each in its own process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import LocalServer, call_process
from webstrata.clock import parse_instant

# The time module of the child shows another system time; its other clocks are those of the machine.
SITECUSTOMIZE = """
import os, time
_time = time.time
time.time = lambda: _time() + float(os.environ["SYSTEM_CLOCK_SET_BY"])
"""


@pytest.mark.parametrize(("set_by", "said"), [(-172_800, "set back by 2d"), (172_800, "set forward by 2d")])
def test_a_rhythm_goes_on(home: Path, tmp_path: Path, server: LocalServer, set_by: int, said: str) -> None:
    """A page that is visited every hour is due again an hour after its visit, as the new system time counts it."""
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE)
    server.pages["/"] = ("text/html", b"<p>Hello.")

    def call(*words: object, at: int = 0) -> object:
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        more = {"SYSTEM_CLOCK_SET_BY": str(at), "PYTHONPATH": path, **server.settings}
        result = call_process("--home", home, *words, **more)
        assert result.code == 0, result.err
        errors.append(result.err)
        return result.json if "--json" in words else result.text

    errors: list[str] = []
    call("watch", server.url(), "--every", "1h")
    call("crawl")
    before = call("list", "--json")
    assert call("status", "--json", at=set_by)["visits"] == 1  # type: ignore[index]
    call("crawl", at=set_by)
    assert said in errors[-1]
    call("crawl", at=set_by)
    assert said not in errors[-1]
    after = call("list", "--json", at=set_by)
    moved = _next_visit(after) - _next_visit(before)
    assert moved == pytest.approx(set_by, abs=60)
    status = call("status", "--json", at=set_by)
    assert status["visits"] == 1  # type: ignore[index]
    ahead_s = status["clock_was_ahead_s"]  # type: ignore[index]
    assert (ahead_s is None) == (set_by > 0)
    assert ("in the future: the clock of this machine was ahead" in str(call("status", at=set_by))) == (set_by < 0)


def _next_visit(listed: object) -> float:
    (page,) = listed if isinstance(listed, list) else listed["pages"]  # type: ignore[index]
    return parse_instant(page["next_visit"])
