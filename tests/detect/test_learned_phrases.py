"""The phrases that say what was learned as noise, and what counts again."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.columns import RunFlag
from webstrata.detect.learned_phrases import learned_phrases
from webstrata.detect.noisy_place import NoisyPlace

PLACE = NoisyPlace(key=1, kind="stamp", changed=6, same=1, example="1,234 visits so far")
LEARNED = replace(PLACE, state="learned", number=2)


def test_what_was_learned() -> None:
    """The phrase has an example, the evidence and the command that undoes it."""
    undo = "undo: webstrata noise https://a.test/ --count 2"
    phrase = f'from now on "1,234 visits so far" does not count (changed at 6 of 7 visits; {undo})'
    assert learned_phrases((PLACE,), (LEARNED,), "https://a.test/") == (phrase,)
    assert learned_phrases((), (LEARNED,), "https://a.test/") == (phrase,)
    assert learned_phrases((LEARNED,), (LEARNED,), "https://a.test/") == ()


def test_what_counts_again() -> None:
    """A place that was forgotten is named; one that the user lets count is not news."""
    forgotten = replace(PLACE, same_in_a_row=12)
    phrase = '"1,234 visits so far" counts again (it did not change at 12 visits)'
    assert learned_phrases((LEARNED,), (forgotten,), "https://a.test/") == (phrase,)
    assert learned_phrases((LEARNED,), (replace(LEARNED, state="denied"),), "https://a.test/") == ()


def test_kinds_are_named() -> None:
    """Each kind of place has its own words, with and without an example."""
    places = [
        replace(LEARNED, kind="order", example="", recent=(1, 2, 3)),
        replace(LEARNED, kind="gap", example="Buy socks " * 20),
        replace(LEARNED, kind="link", example=""),
        replace(LEARNED, kind="data", example="views: 7"),
    ]
    said = [learned_phrases((), (place,), "u")[0].partition(" does not count")[0] for place in places]
    assert said == [
        "from now on the order of a list of 3 lines or links",
        'from now on the text "' + ("Buy socks " * 20)[:59] + '…"',
        "from now on the address of a link",
        'from now on the field "views: 7"',
    ]


def test_stamps_are_said_only_where_they_count() -> None:
    """A line such as "last updated" does not count anyway, unless the page has a layer of its own."""
    stamp = replace(LEARNED, flags=int(RunFlag.STAMP))
    assert learned_phrases((), (stamp,), "https://a.test/", with_stamps=False) == ()
    assert len(learned_phrases((), (stamp, LEARNED), "https://a.test/", with_stamps=False)) == 1
    assert len(learned_phrases((), (stamp,), "https://a.test/")) == 1
