"""`make figures` (`python -m docs.figures`): runs the demo and draws what it printed."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from docs.figures.terminal import draw, run

HERE = Path(__file__).parent
PAGE = "http://llvm.test/"
WIDTH = 100


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        told = run(("demo",), folder, WIDTH)
        lines = ["$ make demo", *told.rstrip().splitlines()]
        for words, most in ((("log", PAGE, "--changes", "--limit", "4"), 14), (("diff", PAGE), 14)):
            printed = run(("--home", "demo-home", *words), folder, WIDTH).strip("\r\n").splitlines()
            lines += ["", f"$ webstrata --home demo-home {' '.join(words)}", *printed[:most]]
            lines += ["…"] if len(printed) > most else []
        run(("--home", "demo-home", "plan", "--offline", "--picture", str(HERE / "planned-round.svg")), folder, WIDTH)
        run(("lab", "crawl-time", "--out", "lab"), folder, WIDTH)
        shutil.copy(Path(folder) / "lab" / "crawl-time.svg", HERE)
        run(("lab", "sharp", "--runs", "1", "--starts", "0", "--out", "lab"), folder, WIDTH)
        for name in ("sharp-shrinking.svg", "sharp-expected.svg"):
            shutil.copy(Path(folder) / "lab" / name, HERE)
    draw(lines, HERE / "demo.svg", title="webstrata", width=WIDTH)
    print(HERE / "demo.svg")


if __name__ == "__main__":
    main()
