"""`webstrata settings`: what holds, and where it comes from."""

from __future__ import annotations

from webstrata import settings as settings_file
from webstrata.cli.output import print_json, print_table
from webstrata.cli.session import HomeOption, JsonOption, SetOption, home_path
from webstrata.settings import FILE_NAME


def command(home: HomeOption = None, settings: SetOption = None, as_json: JsonOption = False) -> None:
    """Show every setting: its value, where it comes from (default, file, environment, flag), its meaning."""
    path = home_path(home)
    held, sources = settings_file.load(path, flags=settings or ())
    rows = settings_file.known(held, sources)
    if as_json:
        print_json({"file": str(path / FILE_NAME), "settings": rows})
    else:
        print_table(
            ("setting", "value", "from", "meaning"),
            ((row.key, row.value, row.source, row.description) for row in rows),
        )
