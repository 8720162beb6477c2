"""The reference pages that are made from the code: `python -m docs.pages` writes them, a test compares them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from webstrata.cli.app import application
from webstrata.clock import span
from webstrata.settings import ByteSize, Duration, SettingInfo, Settings, all_settings

REFERENCE = Path(__file__).parent / "reference"

_CLI_HEAD = """\
# The command line

Made from the program by `python -m docs.pages`; `webstrata COMMAND --help` says the same.

- `--home FOLDER`, before or after the command, names the [home](home.md); else `WEBSTRATA_HOME`, else the platform's
  place for data (on Linux `~/.local/share/webstrata`). `demo` alone makes `demo-home` where it is called.
- `--json` prints one JSON document on stdout ([its fields](json.md)); progress, logs and errors go to stderr.
- Exit codes: 0 done, 1 failed (or, for `check`, something is wrong), 2 a wrong argument, URL, file or setting.
- A time (`T`) is `2026-11-15`, `2026-11-15T08:30:00Z` or 4 to 14 digits as in `20261115083000`, UTC unless it says
  otherwise. A span is `90s`, `15m`, `6h`, `2d`, `1w` or `1d12h`.
"""

_SETTINGS_HEAD = """\
# Settings

Made from the program by `python -m docs.pages`. `webstrata settings` shows what holds in a home and where each value
comes from: a default, then `webstrata.toml` in the [home](home.md), then the environment, then `--set` (of `crawl`,
`run` and `settings`). The later one wins. An unknown key or a value that cannot hold is refused with a sentence.

```toml
[polite]
contact = "https://example.org/crawler"
delay = "5s"
```

is the same as `WEBSTRATA_POLITE_DELAY=5s` and `--set polite.delay=5s`. Spans are written `90s`, `15m`, `6h`, `2d`;
sizes `64KB`, `100MB`, `1GB` (`KiB` and so on for powers of 1024). In the environment and in flags a list is written
with commas, a table as `name=value,name=value`.
"""


def cli_page() -> str:
    """Every command with its arguments and options."""
    root = typer.main.get_command(application())
    parts = [_CLI_HEAD, *_options(root)]
    for path, command in commands(root):
        parts += [f"\n## {path}\n\n{_sentence(command.help)}\n", _usage(path, command), *_options(command)]
    return "".join(parts)


def commands(root: Any, path: str = "webstrata") -> Iterator[tuple[str, Any]]:
    """Every command that can be called, groups walked through, with the words that call it."""
    for name, command in root.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def settings_page() -> str:
    """Every key with its default and meaning, by section."""
    parts = [_SETTINGS_HEAD]
    section = ""
    defaults = Settings()
    for row in all_settings(defaults, {}):
        if section != (section := row.key.partition(".")[0]):
            parts.append(f"\n## [{section}]\n\n| key | default | meaning |\n|---|---|---|\n")
        parts.append(f"| `{row.key}` | {_default(defaults, row)} | {_cell(row.description)} |\n")
    return "".join(parts)


PAGES = {"cli.md": cli_page, "settings.md": settings_page}


def _usage(path: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    names = [(one.metavar or one.name.upper()) + ("…" if one.nargs == -1 else "") for one in arguments]
    words = [name if one.required else f"[{name}]" for name, one in zip(names, arguments, strict=True)]
    return f"\n    {' '.join([path, '[OPTIONS]', *words])}\n"


def _options(command: Any) -> Iterator[str]:
    shown = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    kinds = get_type_hints(inspect.unwrap(command.callback))
    if shown:
        yield "\n| option | meaning |\n|---|---|\n"
    for option in shown:
        yield f"| {_spelling(option, kinds.get(option.name))} | {_cell(_meaning(option))} |\n"


def _spelling(option: Any, kind: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or _word(kind)}"
    names = ", ".join(f"`{name}{value}`" for name in option.opts)
    return names + (f", `{option.secondary_opts[0]}`" if option.secondary_opts else "")


def _word(kind: Any) -> str:
    """What stands for a value of this type: read from our own annotations, which no release of Typer changes."""
    if get_origin(kind) is Literal:
        return "\\|".join(get_args(kind))
    if get_args(kind):
        return _word(get_args(kind)[0])
    return {int: "N", float: "X", Path: "PATH"}.get(kind, "TEXT")


def _meaning(option: Any) -> str:
    text = _sentence(option.help or "")
    default = option.default
    if isinstance(default, str | int | float) and not isinstance(default, bool) and default != "":
        shown = f"{default:g}" if isinstance(default, float) else default
        text += f" Default: {shown}."
    return text + (" May be repeated." if option.multiple and "repeated" not in text else "")


def _default(defaults: Settings, row: SettingInfo) -> str:
    section, _, name = row.key.partition(".")
    value = getattr(getattr(defaults, section), name)
    if isinstance(value, Duration):
        return f"`{span(value).replace(' ', '')}`"
    if isinstance(value, ByteSize):
        return f"`{_size(value)}`"
    if value in ("", (), {}):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _size(count: int) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (2**10, "KiB")):
        if count % unit == 0:
            return f"{count // unit}{name}"
    return str(count)


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
        print(REFERENCE / name)


if __name__ == "__main__":
    main()
