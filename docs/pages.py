"""The reference pages that are generated from the code. `python -m docs.pages` writes them; a test compares them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from webstrata.cli.app import application
from webstrata.cli.examples import EXAMPLES
from webstrata.cli.placeholders import complete_help
from webstrata.clock import span
from webstrata.settings import ByteSize, Duration, SettingInfo, Settings, all_settings

REFERENCE = Path(__file__).parent / "reference"

_CLI_HEAD = """\
# The command line

Generated from the program by `python -m docs.pages`; `webstrata COMMAND --help` prints the same texts.

- `--home FOLDER`, before or after the command, names the [home](home.md). The default is `$WEBSTRATA_HOME`, or the
  platform's folder for application data (on Linux `~/.local/share/webstrata`). The default of `demo` is the folder
  `demo-home` in the current folder.
- `--json` prints one JSON document to stdout ([its fields](json.md)); progress, logs and errors are written to stderr.
- Exit codes: 0 success; 1 failure (for `check`: a fault was found); 2 a wrong argument, URL, file or setting; 141 if
  the reader of stdout closed the pipe (`| head`). Output that cannot be written completely is a failure.
- A time (`TIME`) is written like `2026-11-15`, `2026-11-15T08:30:00Z`, or with 4 to 14 digits like `20261115083000`. It
  is in UTC unless it names another zone. A duration (`SPAN`) is written like `90s`, `15m`, `6h`, `2d`, `1w` or `1d12h`.
- `webstrata --install-completion` installs the completion of commands and options for the current shell.
"""

_SETTINGS_HEAD = """\
# Settings

Generated from the program by `python -m docs.pages`. `webstrata settings` shows the value and the source of every
setting. A value comes from the file `webstrata.toml` in the [home](home.md), from an environment variable, or from the
option `--set`; each of these overrides the ones before it, and all override the default. Unknown keys and invalid
values (also URLs, ports, addresses, budgets and policies that cannot be used) are refused by every command, with the
key, the source and what to write (exit code 2). Files and own policies are checked by the commands that use them.
Durations are at most 100 years. The password of a URL is shown as `***`.

```toml
[polite]
contact = "https://example.org/crawler"
delay = "5s"
```

`delay` can also be set with `WEBSTRATA_POLITE_DELAY=5s` or `--set polite.delay=5s`. Durations are written like `90s`,
`15m`, `6h`, `2d`; sizes like `64KB`, `100MB`, `1GB` (`KiB`, `MiB`, … are powers of 1024). In the environment and in
`--set`, a list is written with commas, a table as `name=value,name=value`.
"""


def cli_page() -> str:
    """Every command with its arguments and options."""
    root = typer.main.get_command(application())
    complete_help(root)
    parts = [_CLI_HEAD, *_options(root)]
    for path, command in commands(root):
        parts += [f"\n## {path}\n\n{_sentence(command.help)}\n", _usage(path, command), *_options(command)]
        parts += _examples(path.removeprefix("webstrata "))
    return "".join(parts)


def commands(root: Any, path: str = "webstrata") -> Iterator[tuple[str, Any]]:
    """Every command, including those in groups, with the words that call it."""
    for name, command in root.commands.items():
        is_group = hasattr(command, "commands")
        if not is_group or command.invoke_without_command:
            yield f"{path} {name}", command
        if is_group:
            yield from commands(command, f"{path} {name}")


def settings_page() -> str:
    """Every key with its default and description, by section."""
    parts = [_SETTINGS_HEAD]
    section = ""
    defaults = Settings()
    for row in all_settings(defaults, {}):
        if section != (section := row.key.partition(".")[0]):
            parts.append(f"\n## [{section}]\n\n| key | default | description |\n|---|---|---|\n")
        parts.append(f"| `{row.key}` | {_default(defaults, row)} | {_cell(row.description)} |\n")
    return "".join(parts)


PAGES = {"cli.md": cli_page, "settings.md": settings_page}


def _usage(path: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    words = [_argument(argument) for argument in arguments]
    return f"\n    {' '.join([path, '[OPTIONS]', *words])}\n"


def _argument(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()).strip("[]…") + ("…" if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _options(command: Any) -> Iterator[str]:
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    if options:
        yield "\n| option | description |\n|---|---|\n"
    for option in options:
        yield f"| {_names(option)} | {_cell(_description(option))} |\n"


def _names(option: Any) -> str:
    value = "" if option.is_flag else f" {_cell(option.metavar)}"
    names = ", ".join(f"`{name}{value}`" for name in option.opts)
    return names + (f", `{option.secondary_opts[0]}`" if option.secondary_opts else "")


def _examples(command: str) -> Iterator[str]:
    yield "\n" + "".join(f"    {example}\n" for example in EXAMPLES[command])


def _description(option: Any) -> str:
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
    """Write all pages."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
        print(REFERENCE / name)


if __name__ == "__main__":
    main()
