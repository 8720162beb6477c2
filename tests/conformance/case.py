"""Reading of conformance cases from outside: rows of any shape, typed access to their fields, and who raised an error.

A row that the runner cannot play is *unplayed*: it is not an object, lacks a field, has a field of another type, or
uses a name that the runner does not know. An exception that comes out of the product is a failure of the product; an
exception of the runner itself makes the row unplayed.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from tests.conformance.verdict import Verdict

_PRODUCT = "webstrata"
_MAX_REASON = 300
_TYPE_NAMES = {str: "text", bool: "true or false", int: "a whole number", list: "a list", dict: "an object"}


class UnplayableError(Exception):
    """The runner cannot play a row; the message is the reason."""


class Case:
    """One row of a family, with access to its fields by type. Each method raises `UnplayableError`."""

    def __init__(self, fields: dict[str, Any], name: str) -> None:
        self.fields = fields
        self.id = fields["id"] if isinstance(fields.get("id"), str) and fields["id"] else name

    def has(self, key: str) -> bool:
        return key in self.fields

    def text(self, key: str) -> str:
        value: str = self._typed(key, str)
        return value

    def text_or_none(self, key: str) -> str | None:
        """Text or null; the key must be present."""
        return None if self._required(key) is None else self.text(key)

    def boolean(self, key: str) -> bool:
        value: bool = self._typed(key, bool)
        return value

    def number(self, key: str) -> int:
        value: int = self._typed(key, int)
        return value

    def number_or_none(self, key: str) -> int | None:
        """A whole number or null; the key must be present."""
        return None if self._required(key) is None else self.number(key)

    def items(self, key: str) -> list[Any]:
        value: list[Any] = self._typed(key, list)
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        for item in self.items(key):
            if not isinstance(item, str):
                _refuse(f"{key!r} contains {_shown(item)}, not text")
        return self.items(key)

    def numbers(self, key: str) -> list[int]:
        """A list of whole numbers."""
        for item in self.items(key):
            if not isinstance(item, int) or isinstance(item, bool):
                _refuse(f"{key!r} contains {_shown(item)}, not a whole number")
        return self.items(key)

    def part(self, key: str) -> Case:
        """An object inside the row; an absent key is an empty object."""
        return Case(self._typed(key, dict) if key in self.fields else {}, self.id)

    def parts(self, key: str) -> list[Case]:
        """A list of objects inside the row."""
        return [Case(_object(item, key), self.id) for item in self.items(key)]

    def choice(self, key: str, known: Collection[str]) -> str:
        """Text that is one of the names that the runner knows."""
        value = self.text(key)
        if value not in known:
            _refuse(f"the runner does not know {value!r} as {key!r}")
        return value

    def only(self, known: Collection[str]) -> None:
        """Refuse a row with fields that the runner does not know: it would play something else than is meant."""
        for key in self.fields:
            if key not in known:
                _refuse(f"the runner does not know the field {key!r}")

    def body(self, key: str) -> bytes:
        """The bytes of `key` (text as UTF-8) or of `key_base64`."""
        if f"{key}_base64" in self.fields:
            try:
                return base64.b64decode(self.text(f"{key}_base64"), validate=True)
            except (binascii.Error, ValueError) as error:
                _refuse(f"{key}_base64 is not base64: {error}")
        return encoded(self.text(key))

    def file(self, folder: Path, key: str) -> Path:
        """A file of the data that the row names."""
        name = self.text(key)
        path = folder / name
        if "\0" in name or not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            _refuse(f"the data have no file {name!r}")
        return path

    def _required(self, key: str) -> Any:
        if key not in self.fields:
            _refuse(f"{key!r} is missing")
        return self.fields[key]

    def _typed(self, key: str, kind: type) -> Any:
        value = self._required(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            _refuse(f"{key!r} is {_shown(value)}, not {_TYPE_NAMES[kind]}")
        return value


def play_rows(path: Path, play: Callable[[Case, Verdict], None], verdict: Verdict) -> None:
    """Play each row of a JSON file (a list of objects). A file that cannot be read is one unplayed row."""
    for name, row in rows_of(path, verdict):
        play_row(name, row, play, verdict)


def rows_of(path: Path, verdict: Verdict) -> Iterator[tuple[str, Any]]:
    """(Name, value) of each row of a JSON file."""
    document = read_json(path, verdict)
    if isinstance(document, list):
        yield from ((f"{path.name}, row {number}", row) for number, row in enumerate(document))
    elif document is not None:
        verdict.leave_out(path.name, f"{_shown(document)}, not a list of rows")


def read_json(path: Path, verdict: Verdict) -> Any:
    """The document in a file; None, and one unplayed row, if it cannot be read."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        verdict.leave_out(path.name, f"cannot be read: {_message(error)}")
        return None
    if document is None:
        verdict.leave_out(path.name, "null, not a list of rows")
    return document


def play_row(name: str, row: Any, play: Callable[[Case, Verdict], None], verdict: Verdict) -> None:
    """Play one row. Its counts are added only if it is played to its end."""
    case = Case(row if isinstance(row, dict) else {}, name)

    def play_object(played: Verdict) -> None:
        _object(row, "the row")
        play(case, played)

    play_named(case.id, play_object, verdict)


def play_named(name: str, play: Callable[[Verdict], None], verdict: Verdict) -> None:
    """Play a row that is not an object of a JSON file."""
    played = Verdict()
    try:
        play(played)
    except Exception as error:  # any exception is a result of the row
        count_error(name, error, verdict)
    else:
        verdict.add(played)


def count_error(name: str, error: Exception, verdict: Verdict) -> None:
    """Count an exception: as failed if it comes out of the product, else as unplayed."""
    if isinstance(error, UnplayableError):
        verdict.leave_out(name, str(error)[:_MAX_REASON])
    elif raised_in_product(error):
        verdict.failed.append(f"{name}: the product raised {_message(error)}")
    else:
        verdict.leave_out(name, f"the runner raised {_message(error)}")


def raised_in_product(error: BaseException) -> bool:
    """Whether a function of the product is among the calls that the exception left.

    The runner checks the types of a row before it calls the product; therefore such an exception is the product's.
    """
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if str(step.tb_frame.f_globals.get("__name__", "")).partition(".")[0] == _PRODUCT:
            return True
        step = step.tb_next
    return False


def encoded(text: str) -> bytes:
    """Text as UTF-8; a lone surrogate has no encoding and cannot be played."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnplayableError(f"text that UTF-8 cannot encode: {error.reason}") from None


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"{what} is {_shown(value)}, not an object")
    fields: dict[str, Any] = value
    return fields


def _refuse(reason: str) -> NoReturn:
    raise UnplayableError(reason)


def _shown(value: Any) -> str:
    return "null" if value is None else f"{type(value).__name__} {str(value)[:40]!r}"


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_MAX_REASON]
