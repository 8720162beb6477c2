"""`preview --live` beside `run`: both are processes of one home, and share its politeness."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.cli.conftest import ALWAYS_DUE, call_process, started
from tests.flows.crawl.requests.counting_origin import TOLERANCE_S, CountingOrigin

GAP_S = 0.6
SETTINGS = """
[polite]
delay = "{gap_s}s"
delay_factor = 0
address_delay = "0s"

[fetch]
allow_private = ["127.0.0.1/32:{port}"]
hosts = {{ "a.test" = "127.0.0.1:{port}" }}

[crawl]
round = "2s"
workers = 0
"""


def test_preview_keeps_the_gap_beside_a_crawl(tmp_path: Path) -> None:
    """Each preview gets its turn within its patience, the crawl goes on, and no gap at the origin is too short."""
    home = tmp_path / "home"
    with CountingOrigin() as origin:
        assert call_process("--home", home, "init").code == 0
        (home / "webstrata.toml").write_text(SETTINGS.format(gap_s=GAP_S, port=origin.port))
        urls = [f"http://a.test/{number}" for number in range(4)]
        assert call_process("--home", home, "watch", *urls).code == 0
        with started("--home", home, "run", "-q", **ALWAYS_DUE) as run:
            origin.wait_for(3)
            for number in range(3):
                preview = call_process("--home", home, "preview", "http://a.test/preview", "--live")
                assert preview.code == 0, preview.err
                origin.wait_for(number + 1, path="/preview")
                origin.wait_for(len(origin.arrivals) + 2)  # the crawl has its turn again
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=60)
        before = len(origin.arrivals)
        # After an orderly end nothing is held: the next process need not wait for the end of a lease.
        assert call_process("--home", home, "preview", "http://a.test/preview", "--live").code == 0
        assert len(origin.arrivals) == before + 1
        assert min(origin.gaps_s()) >= GAP_S - TOLERANCE_S
