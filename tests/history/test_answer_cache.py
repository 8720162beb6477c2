"""The cache of answers: what it finds, forgets and never trusts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from webstrata.history.answer_cache import AnswerCache
from webstrata.records import ServerAnswer

URL = "http://a.example/cdx?url=x"
ANSWER = ServerAnswer(url="http://b.example/", status=200, body=b"a\nb" * 100)


def test_an_answer_is_kept_until_its_time(tmp_path: Path) -> None:
    """An answer is found until it is too old, and not before it was made; another request does not find it."""
    cache = AnswerCache(tmp_path / "c")
    cache.put(URL, ANSWER, now=100.0, until=200.0)

    assert cache.get(URL, 100.0) == ANSWER
    assert cache.get(URL, 199.0) == ANSWER
    assert cache.get(URL, 200.0) is None
    assert cache.get(URL, 99.0) is None
    assert cache.get(URL + "y", 100.0) is None


def test_answers_are_private(tmp_path: Path) -> None:
    """Others cannot read what was asked."""
    cache = AnswerCache(tmp_path / "c")
    cache.put(URL, ANSWER, now=100.0, until=200.0)

    (file,) = (tmp_path / "c").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert (tmp_path / "c").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"", b"\x1f\x8b", b"text", b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff"])
def test_a_damaged_file_is_missing(tmp_path: Path, damage: bytes) -> None:
    """Half-written and foreign files are as good as missing."""
    cache = AnswerCache(tmp_path)
    cache.put(URL, ANSWER, now=100.0, until=200.0)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()

    for content in (damage, whole[: len(whole) // 2]):
        file.write_bytes(content)
        assert cache.get(URL, 100.0) is None


def test_the_oldest_make_room(tmp_path: Path) -> None:
    """Above the limit on size the oldest answers are removed."""
    body = os.urandom(1000)
    cache = AnswerCache(tmp_path, max_bytes=5_000)
    for number in range(10):
        cache.put(f"{URL}{number}", ServerAnswer(url=URL, body=body), now=100.0, until=200.0)
        for age, file in enumerate(sorted(tmp_path.iterdir(), key=lambda one: one.stat().st_mtime_ns)):
            os.utime(file, (age, age))

    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 5_000
    assert cache.get(f"{URL}9", 100.0) is not None
    assert cache.get(f"{URL}0", 100.0) is None


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A cache that cannot keep an answer is no error."""
    (tmp_path / "c").write_text("a file")
    cache = AnswerCache(tmp_path / "c")
    cache.put(URL, ANSWER, now=100.0, until=200.0)

    assert cache.get(URL, 100.0) is None
