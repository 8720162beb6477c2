"""`webstrata lab`: experiments, each in a file of its own (`lab_NAME.py`)."""

from __future__ import annotations

from importlib import import_module

import typer

EXPERIMENTS = {
    "crawl-time": "crawl_time",
    "policies": "policies",
    "sharp": "sharp",
}
"""Experiment -> its file in this folder. Each has a function `command` and loads what is heavy only when called."""

app = typer.Typer(help="Experiments: every claim, run again on this machine.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Experiments: every claim, run again on this machine."""


for _name, _file in EXPERIMENTS.items():
    app.command(name=_name)(import_module(f"webstrata.cli.lab.{_file}").command)
