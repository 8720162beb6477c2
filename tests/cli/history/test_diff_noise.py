"""`webstrata diff` and learned noise: it is hidden, counted in one line, and shown on demand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, on_a_terminal
from tests.cli.history.conftest import VisitVersions

STORY = "".join(
    f"<p>Paragraph {word} of the story says what happened, at length, and nobody ever edits it.</p>"
    for word in ("Rome", "Oslo", "Lima", "Kyoto", "Dakar", "Quito")
)
HIDDEN = "… 2 lines of learned noise are hidden; --noise shows them."


def story(number: int, rate: str = "4.2 %", link: str = "/a") -> str:
    """A page with a counter of visitors beside the rate that is its subject."""
    counter = f"<p>You are visitor number {number}.</p>"
    return f"<title>Story</title><main>{counter}<p>The rate is {rate}.</p><a href={link}>More</a>{STORY}</main>"


@pytest.fixture
def page(visit_versions: VisitVersions) -> str:
    """A page whose counter was learned as noise, and whose rate changed after that."""
    return visit_versions("text/html", *(story(number) for number in range(1, 8)), story(8, "4.3 %"))


def test_noise_is_hidden(home: Path, call: Call, page: str) -> None:
    """The lines of the counter are not shown, only their number; with --noise they follow what counts."""
    lines = call("--home", home, "diff", page).text.splitlines()
    assert "-The rate is 4.2 %." in lines
    assert not any("visitor" in line for line in lines)
    assert lines[-1] == HIDDEN
    shown = call("--home", home, "diff", page, "--noise").text.splitlines()
    heading = shown.index("@@ learned noise, which does not count @@")
    assert shown[:heading] == lines[:-1]
    assert "-You are visitor number 7." in shown[heading:]
    assert "+You are visitor number 8." in shown[heading:]
    assert HIDDEN not in shown
    words = call("--home", home, "diff", page, "--words").text
    assert "visitor" not in words
    assert HIDDEN in words


def test_noise_in_json(home: Path, call: Call, page: str) -> None:
    """Noise is a field of its own, in the same form."""
    document = call("--home", home, "diff", page, "--json").json
    assert "-The rate is 4.2 %." in document["diff"]
    assert not any("visitor" in line for line in document["diff"])
    assert "+You are visitor number 8." in document["noise"]["diff"]
    assert document["move"] is None


def test_noise_in_html(home: Path, call: Call, page: str) -> None:
    """Noise stands in a grey section of its own."""
    shown = call("--home", home, "diff", page, "--html").text
    counted, _, noise = shown.partition('<details class="noise">')
    assert "The rate is" in counted
    assert "visitor" not in counted
    assert "Learned noise, which does not count: 2 lines" in noise
    assert "visitor" in noise
    assert ".noise{color:var(--grey)}" in counted


def test_noise_on_a_terminal(home: Path, page: str) -> None:
    """With --noise its lines are dim."""
    shown = on_a_terminal("--home", home, "diff", page, "--noise")
    assert "\x1b[2m+You are visitor number 8.\x1b[0m" in shown


def test_noise_since(home: Path, call: Call, page: str) -> None:
    """With --since noise is hidden in every change, also in those before it was learned."""
    shown = call("--home", home, "diff", page, "--since", "1d").text
    assert "-The rate is 4.2 %." in shown
    assert "visitor" not in shown
    assert shown.count(HIDDEN) > 1
    assert "+You are visitor number 8." in call("--home", home, "diff", page, "--since", "1d", "--noise").text
    last, *_ = call("--home", home, "diff", page, "--since", "1d", "--json").json["changes"]
    assert "-The rate is 4.2 %." in last["lines"]
    assert not any("visitor" in line for line in last["lines"])
    assert "+You are visitor number 8." in last["noise"]
    document = call("--home", home, "diff", page, "--since", "1d", "--html").text
    assert '<details class="noise"' in document


def test_only_noise(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """Two versions that differ only in a place that is learned by now."""
    page = visit_versions("text/html", *(story(number) for number in range(1, 8)))
    assert call("--home", home, "diff", page).text == f"No difference but learned noise.\n{HIDDEN}\n"


def test_counted_noise_is_shown(home: Path, call: Call, page: str) -> None:
    """A place that the user wants to count is not hidden."""
    call("--home", home, "noise", page, "--count", "all")
    shown = call("--home", home, "diff", page).text
    assert "+You are visitor number 8." in shown
    assert "hidden" not in shown


def test_noise_is_in_no_reason(home: Path, call: Call, page: str) -> None:
    """The reasons and the size of a change are those of the rate, not of the counter."""
    visit, *_ = call("--home", home, "log", page, "--json").json["visits"]
    assert visit["changed"]
    assert visit["reasons"][0].startswith("about 1 word added, 1 removed")
    assert not any("noise" in reason for reason in visit["reasons"])


def test_noise_in_data(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A value of JSON that changes at every visit is hidden like a line."""

    def document(number: int, rate: float) -> str:
        rest = ", ".join(f'"field {name}": "stays as it is"' for name in "abcdefgh")
        return f'{{"meta": {{"views": {number}}}, "rate": {rate}, "items": [1, 2], {rest}}}'

    versions = [document(number, 4.2) for number in range(1, 9)]
    page = visit_versions("application/json", *versions, document(9, 4.3))
    assert call("--home", home, "noise", page, "--json").json["noise"]
    shown = call("--home", home, "diff", page).text
    assert shown == " $.rate: 4.2 → 4.3\n… 1 line of learned noise is hidden; --noise shows it.\n"
    assert " $.meta.views: 8 → 9" in call("--home", home, "diff", page, "--noise").text


def test_noisy_titles_and_links_are_in_no_reason(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A title and a link that are learned as noise add nothing to a change of the text beside them."""

    def version(number: int, rate: str) -> str:
        token = f"{number * 7919:08x}"
        ad = f"<a href=/ad/{token}{token}>Ad</a>"
        return f"<title>Board at 12:{number:02d}:07</title><main>{ad}<p>The rate is {rate}.</p>{STORY}</main>"

    versions = [version(number, "4.2 %") for number in range(1, 10)]
    page = visit_versions("text/html", *versions, version(10, "4.3 %"))
    visits = call("--home", home, "log", page, "--json").json["visits"]
    assert visits[1]["outcome"] == "same", visits[1]["reasons"]
    assert visits[0]["reasons"] == [
        "about 1 word added, 1 removed (1.0 % of the text)",
        "a figure that people watch differs",
    ]
    assert visits[0]["new_links"] == 0


def test_what_rules_leave_out_is_in_no_reason(home: Path, call: Call, visit_versions: VisitVersions) -> None:
    """A title and links outside the selected text are not among the reasons."""
    page = visit_versions("text/html", story(1), story(2))
    call("--home", home, "rules", page, "--select", "css:main p:nth-of-type(2)")
    visit_versions("text/html", story(3, "4.3 %", link="/new").replace("<title>", "<title>Another "))
    visit, *_ = call("--home", home, "log", page, "--json").json["visits"]
    assert len(visit["reasons"]) == 2, visit["reasons"]
    assert visit["reasons"][0].startswith("about 1 word added, 1 removed")
    assert visit["reasons"][1] == "a figure that people watch differs"
