"""Messages on stderr: errors, tracebacks and log lines, without passwords and without characters that a terminal obeys."""

from __future__ import annotations

import logging
import traceback

import typer

from webstrata.cli.output import printable
from webstrata.masking import masked


class MaskingFormatter(logging.Formatter):
    """Masks passwords in log lines, and in the tracebacks that belong to them."""

    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record))


def safe(text: str) -> str:
    """The text line by line without passwords and control characters."""
    return "\n".join(printable(line) for line in masked(text).split("\n"))


def start_logging(level: int, form: str = "webstrata: %(message)s") -> None:
    """Write log lines of this level to stderr; has no effect if it was called before."""
    logging.basicConfig(level=level)
    for handler in logging.getLogger().handlers:
        if type(handler.formatter) is logging.Formatter:  # the one of basicConfig
            handler.setFormatter(MaskingFormatter(form))


def mask_unconfigured_logging() -> None:
    """Warnings of commands that configure no logging are written without passwords as well."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(MaskingFormatter())


def print_error(text: str) -> None:
    """Print a sentence on stderr."""
    typer.echo(f"webstrata: {safe(text)}", err=True)


def print_traceback(problem: BaseException) -> None:
    """Print the traceback of an exception."""
    typer.echo(safe("".join(traceback.format_exception(problem)).rstrip("\n")), err=True)
