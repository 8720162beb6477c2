"""`make figures` (`python -m docs.figures`): runs the demo and experiments and draws the figures of the documents."""

from __future__ import annotations

import shutil
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

from docs.figures.forecast import draw_forecast_figure
from docs.figures.terminal import draw, run

HERE = Path(__file__).parent
PAGE = "http://llvm.test/"
WIDTH = 110
MAX_LINES = 14
"""Of the output of each command after the demo."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = ["$ make demo", *_wrapped(run(("demo",), folder, WIDTH).rstrip())]
        for words in (("log", PAGE, "--changes", "--limit", "4"), ("diff", PAGE)):
            printed = run(("--home", "demo-home", *words), folder, WIDTH).strip("\r\n").splitlines()
            lines += ["", f"$ webstrata --home demo-home {' '.join(words)}", *printed[:MAX_LINES]]
            lines += ["…"] if len(printed) > MAX_LINES else []
        run(("--home", "demo-home", "plan", "--offline", "--picture", str(HERE / "planned-round.svg")), folder, WIDTH)
        run(("lab", "crawl-time", "--out", "lab"), folder, WIDTH)
        run(("lab", "sharp", "--runs", "1", "--starts", "0", "--out", "lab"), folder, WIDTH)
        run(("lab", "groups", "--plot", str(HERE / "first-sight-groups.svg")), folder, WIDTH)
        run(("lab", "cold-start", "--plot", str(HERE)), folder, WIDTH)
        run(("lab", "cold-start", "--schedule", "--plot", str(HERE)), folder, WIDTH)
        run(("lab", "sharp", "--calibration", "--picture", str(HERE / "sharp-calibration.svg")), folder, WIDTH)
        run(("lab", "hacs", "--plot", "lab"), folder, WIDTH)
        hacs = [f"hacs-{name}.svg" for name in ("f1", "ranking", "copies", "intervals", "medians", "gaps")]
        for name in ("crawl-time.svg", "sharp-shrinking.svg", "sharp-expected.svg", *hacs):
            shutil.copy(Path(folder) / "lab" / name, HERE)
    draw_forecast_figure(HERE / "forecast.svg")
    draw(lines, HERE / "demo.svg", title="webstrata", width=WIDTH)
    print(HERE / "demo.svg")


def _wrapped(output: str) -> Iterator[str]:
    """The lines of an output; long ones are continued on the next line, as in a terminal."""
    for line in output.splitlines():
        yield from textwrap.wrap(line, WIDTH) if len(line) > WIDTH else [line]


if __name__ == "__main__":
    main()
