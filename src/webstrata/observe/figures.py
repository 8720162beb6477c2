"""Figures in a run of text: the number in it, and whether people watch it (a price, a stock, a score) or nobody does.

| run | flag |
|---|---|
| a figure with a currency, a unit or a word such as price, stock, left, rate, level; a score | `WATCHED` |
| a short run with a word such as sold, closed, ausverkauft | `WATCHED` |
| figures that are all ages ("3 hours ago"), view counts or load times | `TRIVIAL` |
| figures that are all dates, times of day or tokens | `TIMES` |
| any other figure | none |

A number without words takes its meaning from the label before it ("Definitions", "99"), from the heading of its column,
or from the page's title. In doubt a figure is watched: the price of that is one more change told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from webstrata.columns import RunFlag
from webstrata.observe.time_words import lower_words, without_ages, without_times
from webstrata.observe.watched_words import (
    CURRENCY_CODES,
    CURRENCY_SYMBOL,
    LOAD_WORDS,
    STATE_WORDS,
    UNIT_WORDS,
    VIEW_WORDS,
    WATCHED_ENDINGS,
    WATCHED_WORDS,
)

NO_FIGURE = float("nan")
_MAX_LENGTH = 400
"""Characters of a run that are examined."""
_MAX_LABEL_WORDS = 4
_SHORT = 60
_MAX_UNDER_HEADING = 400
"""Runs after a column's heading whose bare numbers belong to it."""

_WATCHED_CJK = re.compile(
    "価格|値段|在庫|残り|税込|円|点数|順位|得点|気温|空席|株価|价格|價格|库存|庫存|剩余|剩餘|余票|元|比分|排名|气温|人民币"
    "|가격|재고|남음|원|점수|순위|기온|잔여"
)
_NUMBER = r"(?:[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3}(?![0-9]))+(?:[.,][0-9]{1,9})?|[0-9](?:[0-9.,'\u2019]{0,20}[0-9])?)"
_NEXT = re.compile(
    rf"[0-9](?![0-9])[.,]?[-–—]{{0,2}}[ \u00a0\u202f]?"
    rf"(?:({CURRENCY_SYMBOL}|[%‰°])|([^\W\d_]{{1,12}}(?:/[hs]\b|[²³23])?))"
)
_AFTER_SYMBOL = re.compile(rf"{CURRENCY_SYMBOL}[ \u00a0]?[-−+]?[0-9]")
_BEFORE_FIGURE = frozenset(code.lower() for code in CURRENCY_CODES) | {"rs", "kr", "fr"}
_AFTER_CODE = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(sorted(CURRENCY_CODES))}|Rs|kr|Fr)\.?[ \u00a0]?[-−+]?[0-9]")
_SCORE = re.compile(r"[0-9](?<![0-9:.,/–-][0-9])[0-9]{0,2} ?[:–—-] ?[0-9]{1,3}(?![0-9:/%–-]|[.,][0-9])")

_TIED = re.compile(rf"{_NUMBER}|[^\W\d_]+|[,;|·•/]")
_VIEWS_BEFORE = VIEW_WORDS - {"view", "visit", "hit", "like", "share", "comment", "download", "reply", "people"}
"""Words before a number: not those that are verbs ("View 3 more")."""
_STARS = re.compile(r"[★⭐☆] ?[0-9]{1,3}(?:[0-9]*|(?:,[0-9]{3})*)(?![0-9.,])")
"""The number of stars that users gave, as on GitHub; a figure with decimals is a rating."""
_TIED_WORDS = 3
"""Words between a number and the word that says what it counts."""
_VIEWED_CJK = "閲覧|視聴|再生|ビュー|コメント|浏览|瀏覽|阅读|观看|评论|評論|访问|在线|조회|댓글|방문"
_VIEW_COUNT_CJK = re.compile(
    rf"{_NUMBER}[万萬]? ?(?:回|次|人|件|명|회|개)?の? ?(?:{_VIEWED_CJK})"
    rf"|(?:{_VIEWED_CJK})[数數量수]?[ :(]{{0,3}}{_NUMBER}"
)
_LOAD_TIME = re.compile(
    rf"{_NUMBER} ?(?:ms|s|secs?|seconds?|sekunden|secondes|segundos|queries|abfragen|requêtes|mb|kb)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile("[0-9]")
_PLAIN = re.compile(
    r"[-+−]?[0-9](?<![0-9A-Za-z.,][0-9])(?<![0-9A-Za-z][-+−][0-9])"
    r"(?:[0-9]{0,2}(?:[ \u00a0\u202f][0-9]{3}(?![0-9]))+(?:[.,][0-9]{1,9})?|(?:[0-9.,'\u2019]{0,20}[0-9])?)[kKM]?"
)


class RunFigure(NamedTuple):
    """What the digits of one run say."""

    flags: int
    """`WATCHED`, `TRIVIAL` or `TIMES`, or 0."""
    figure: float
    """The only number in the run; NaN if there is none, or more than one."""


def is_watched(run: str) -> bool:
    """Whether a run has a figure that people watch: with a currency, a unit, a word such as price; or a score."""
    return bool(examined(run).flags & RunFlag.WATCHED)


def figures_of(runs: Sequence[str], title: str = "") -> list[RunFigure]:
    """The figures of the runs of one part of a page, each read with the labels before and after it."""
    named = _names_a_figure(lower_words(title))
    found: list[RunFigure] = []
    heading_at = -_MAX_UNDER_HEADING
    label: list[str] = []
    for index, run in enumerate(runs):
        if not _DIGIT.search(run):
            words = lower_words(run) if len(run) <= _SHORT else []
            label = words
            if 0 < len(words) <= _MAX_LABEL_WORDS and _names_a_figure(words):
                heading_at = index
            found.append(RunFigure(_flags_without_figure(run, words), NO_FIGURE))
            continue
        one = examined(run)
        if not one.flags and _WORD.search(run):
            one = RunFigure(RunFlag.WATCHED if named else 0, one.figure)
        elif not one.flags:
            is_below = named or index - heading_at < _MAX_UNDER_HEADING
            one = RunFigure(_flags_of_bare_number(label, _label_after(runs, index), is_below), one.figure)
        found.append(one)
    return found


def _flags_without_figure(run: str, words: list[str]) -> int:
    if not STATE_WORDS.isdisjoint(words):
        return RunFlag.WATCHED
    return RunFlag.TRIVIAL if words and without_ages(run, words) != run else 0


def _label_after(runs: Sequence[str], index: int) -> list[str]:
    after = runs[index + 1] if index + 1 < len(runs) else ""
    return lower_words(after) if len(after) <= _SHORT and not _DIGIT.search(after) else []


def _flags_of_bare_number(before: list[str], after: list[str], is_below_heading: bool) -> int:
    """What a number without words is, by the labels before and after it. With a label it is a value of a table."""
    if not VIEW_WORDS.isdisjoint(before) or (not VIEW_WORDS.isdisjoint(after) and not _names_a_figure(before)):
        return RunFlag.TRIVIAL
    has_label = 0 < len(before) <= _MAX_LABEL_WORDS or _names_a_figure(after)
    return RunFlag.WATCHED if has_label or is_below_heading else 0


def _names_a_figure(words: list[str]) -> bool:
    return not WATCHED_WORDS.isdisjoint(words) or any(
        word.endswith(WATCHED_ENDINGS) and len(word) > 7 for word in words
    )


def examined(run: str) -> RunFigure:
    """Flags and figure of a run by itself."""
    run = run[:_MAX_LENGTH]
    if not _DIGIT.search(run):
        return RunFigure(0, NO_FIGURE)
    words = lower_words(run)
    rest = _without_trivial(run, words)
    plain = without_times(rest, words)
    if not _DIGIT.search(plain):
        if rest != run:
            # The figure of a view count is kept, to notice a jump; an age has none.
            return RunFigure(RunFlag.TRIVIAL, _only_number(without_times(without_ages(run, words), words)))
        return RunFigure(RunFlag.TIMES if plain != rest else 0, NO_FIGURE)
    return RunFigure(RunFlag.WATCHED if _watches(plain, words) else 0, _only_number(plain))


def _without_trivial(run: str, words: list[str]) -> str:
    """The run without ages, view counts and load times."""
    rest = without_ages(run, words)
    if not VIEW_WORDS.isdisjoint(words):
        rest = _without_view_counts(rest)
    if not rest.isascii():
        rest = _STARS.sub(" ", _VIEW_COUNT_CJK.sub(" ", rest))
    if not LOAD_WORDS.isdisjoint(words):
        rest = _LOAD_TIME.sub(" ", rest)
    return rest


def _without_view_counts(run: str) -> str:
    """The run without the numbers that stand near a word such as views or visitors."""
    tokens = list(_TIED.finditer(run))
    kept, end = [], 0
    for index, token in enumerate(tokens):
        if not token[0][0].isdigit():
            continue
        if _is_view(tokens[index + 1 :], VIEW_WORDS) or _is_view(tokens[:index][::-1], _VIEWS_BEFORE):
            kept.append(run[end : token.start()])
            end = token.end()
    return " ".join((*kept, run[end:]))


def _is_view(near: Sequence[re.Match[str]], view_words: frozenset[str]) -> bool:
    """Whether one of the next words says that views are counted; another number or a comma ends the search."""
    for token in near[:_TIED_WORDS]:
        word = token[0].lower()
        if word in view_words:
            return True
        if not word[0].isalpha():
            return False
    return False


def _watches(rest: str, words: list[str]) -> bool:
    return (
        _names_a_figure(words)
        or any(symbol or unit.lower() in UNIT_WORDS for symbol, unit in _NEXT.findall(rest))
        or _SCORE.search(rest) is not None
        or (not _BEFORE_FIGURE.isdisjoint(words) and _AFTER_CODE.search(rest) is not None)
        or ("$" in rest and _AFTER_SYMBOL.search(rest) is not None)
        or (not rest.isascii() and (_AFTER_SYMBOL.search(rest) or _WATCHED_CJK.search(rest)) is not None)
    )


def _only_number(text: str) -> float:
    numbers = _PLAIN.findall(text)
    if len(numbers) != 1:
        return NO_FIGURE
    number = numbers[0]
    value = _parsed("".join(number.strip("-+−kKM").split()))
    if number[-1] in "kKM":
        value *= 1e6 if number[-1] == "M" else 1e3
    return -value if number[0] in "-−" else value


def _parsed(number: str) -> float:
    """A number with decimal point or comma and thousands separators; NaN if it is no number (1.2.3.4)."""
    digits = number.replace("'", "").replace("\u2019", "")
    points, commas = digits.count("."), digits.count(",")
    if points and commas:
        decimal = "." if digits.rfind(".") > digits.rfind(",") else ","
    elif points + commas == 1:
        decimal = "." if points else ","
        whole, _, part = digits.partition(decimal)
        if len(part) == 3 and 1 <= len(whole) <= 3 and whole != "0":
            decimal = ""
    else:
        decimal = ""
    groups = digits.rpartition(decimal)[0] if decimal else digits
    if not decimal and (points or commas) and any(len(group) != 3 for group in re.split("[.,]", groups)[1:]):
        return NO_FIGURE
    plain = groups.replace(".", "").replace(",", "") + ("." + digits.rpartition(decimal)[2] if decimal else "")
    return float(plain) if plain.count(".") <= 1 else NO_FIGURE
