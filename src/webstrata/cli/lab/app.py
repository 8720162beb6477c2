"""`webstrata lab`: a command for each experiment, each in a file of this folder."""

from __future__ import annotations

from importlib import import_module

import typer

EXPERIMENTS = {
    "cold-start": "cold_start",
    "crawl-time": "crawl_time",
    "groups": "groups",
    "hacs": "hacs",
    "live": "live",
    "policies": "policies",
    "sharp": "sharp",
}
"""Experiment -> its module in this folder. Each has a function `command`, which imports heavy libraries when called."""

app = typer.Typer(help="Experiments that repeat every measurement on this machine.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Experiments that repeat every measurement on this machine."""


for _name, _module in EXPERIMENTS.items():
    app.command(name=_name)(import_module(f"webstrata.cli.lab.{_module}").command)
