"""`webstrata settings`: every setting with its value, source and description."""

from __future__ import annotations

from typing import Any

from webstrata import settings as settings_file
from webstrata.cli.options import HomeOption, JsonOption, SetOption
from webstrata.cli.output import print_json, print_table, size
from webstrata.cli.session import home_path, load_settings
from webstrata.clock import span
from webstrata.settings import FILE_NAME, ByteSize, Duration, Settings, shown_value


def command(home: HomeOption = None, settings: SetOption = None, as_json: JsonOption = False) -> None:
    """Show every setting with its value, its source (default, file, environment, --set) and its description."""
    path = home_path(home)
    values, sources = load_settings(path, settings)
    rows = settings_file.all_settings(values, sources)
    file = str(path / FILE_NAME)
    if as_json:
        print_json({"file": file, "settings": rows})
        return
    print_table(
        ("setting", "value", "source", "description"),
        (
            (row.key, _text(values, row.key), FILE_NAME if row.source == file else row.source, row.description)
            for row in rows
        ),
    )


def _text(settings: Settings, key: str) -> str:
    """A value in the format of --set; `-` if it is empty."""
    section, _, name = key.partition(".")
    value: Any = shown_value(getattr(getattr(settings, section), name))
    match value:
        case Duration():
            return span(value)
        case ByteSize():
            return size(value)
        case bool():
            return str(value).lower()
        case list():
            return ",".join(map(str, value)) or "-"
        case dict():
            return ",".join(f"{name}={item}" for name, item in value.items()) or "-"
        case _:
            return str(value) or "-"
