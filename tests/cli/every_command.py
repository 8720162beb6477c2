"""Every command, with arguments with which it opens the database of its home; `python every_command.py HOME [--debug]`
runs them one after the other in one process."""

from __future__ import annotations

import sys

from webstrata.cli.app import COMMANDS, main

PAGE = "http://a.example/"
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "init": (),
    "watch": (PAGE,),
    "unwatch": (PAGE,),
    "list": (),
    "tag": (),
    "crawl": ("-q",),
    "run": ("-q", "--for", "1s"),
    "status": (),
    "boost": ("news",),
    "interval": (),
    "snooze": (),
    "importance": (),
    "changes": (),
    "log": (),
    "diff": (PAGE,),
    "rules": (PAGE,),
    "preview": (PAGE,),
    "noise": (PAGE,),
    "fingerprint": (__file__,),
    "compare": (__file__, __file__),
    "estimate": (__file__,),
    "cat": (PAGE,),
    "why": (PAGE,),
    "forecast": (PAGE,),
    "select": ("--top", "1"),
    "settings": (),
    "check": (),
    "reindex": (),
    "rebuild": (),
    "import": ("list",),
    "export": ("wacz", "/nowhere/x.wacz"),
    "capture": (PAGE, "-q"),
    "certificate": ("log",),
    "coherence": (PAGE,),
    "plan": (),
    "train": (),
    "demo": ("--days", "0"),
    "lab": (),
}


def run_all(home: str, debug: bool) -> None:
    """Run every command, and those that print documents also with `--json`; prints the exit code of each."""
    for name in COMMANDS:
        for more in ((), ("--json",)):
            sys.argv = [*("webstrata", "--home", home), *(["--debug"] if debug else []), name, *ARGUMENTS[name], *more]
            try:
                main()
                code: object = 0
            except SystemExit as end:
                code = end.code
            print(f"[{name}: {code}]", flush=True)


if __name__ == "__main__":
    run_all(sys.argv[1], "--debug" in sys.argv)
