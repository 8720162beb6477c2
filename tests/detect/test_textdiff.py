from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.text import unified, unified_bytes

TEXT = st.lists(st.sampled_from(["a", "b", "c", "d", "one", "two", ""]), max_size=40).map(
    lambda lines: "".join(line + "\n" for line in lines)
)


def applied(before: str, patch: str) -> str:
    """What `patch` makes of a text: a plain reading of the unified format."""
    old, out, place = before.splitlines(), [], 0
    for line in patch.splitlines()[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            target = int(start) - (1 if length != "0" else 0)
            out += old[place:target]
            place = target
        elif line[0] == "+":
            out.append(line[1:])
        else:
            assert old[place] == line[1:]
            out += [line[1:]] if line[0] == " " else []
            place += 1
    return "".join(line + "\n" for line in out + old[place:])


@given(TEXT, TEXT)
def test_a_diff_applies(before: str, after: str) -> None:
    """Applied to the first text, the diff gives the second; equal texts have none."""
    patch = unified(before, after)
    assert (patch == "") == (before == after)
    assert applied(before, patch) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("", "a\n"),
        ("a\n", ""),
        ("".join(f"{n}\n" for n in range(40)), "".join(f"{n}\n" for n in range(40) if n not in (3, 30))),
        ("".join(f"{n}\n" for n in range(20)), "".join(f"{n}\n" for n in range(20) if n not in (3, 9))),
    ],
)
def test_written_as_diff_writes_it(before: str, after: str) -> None:
    """Heads, ranges and context are those of the standard library's unified diff."""
    expected = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="")
    assert unified(before, after).splitlines() == list(expected)


def test_bytes() -> None:
    """Text bodies are compared by lines, others by size and digest; bad bytes are shown, not lost."""
    assert unified_bytes(b"a", b"a") == ""
    assert "-a\n+b\n" in unified_bytes(b"a\n", b"b\n")
    assert "-\\xff\n" in unified_bytes(b"\xff\n", b"b\n")
    assert "Binary contents differ: 2 bytes, SHA-256 " in unified_bytes(b"\0a", b"b\n")
    assert "Only line endings differ." in unified_bytes(b"a\r\n", b"a\n")
