"""Command lines that are printed can be typed: a shell splits them into the same words, and the rules are the same."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Call, LocalServer, environment
from webstrata.cli.app import application
from webstrata.cli.command_line import command_line, option_words
from webstrata.cli.options import page_rules_of, page_rules_options
from webstrata.cli.output import printable
from webstrata.records import ATTRIBUTE_KINDS, PageRules

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
"""What a word of a command can hold: all characters but U+0000 and unpaired surrogates."""
AWKWARD = [
    "-x",
    "--clear",
    "it's",
    'say "x"',
    "a\nb",
    "\t",
    "a\\nb",
    "$HOME",
    "`id`",
    "\x1b[2J",
    "\u202e",
    "ä ö",
    "!",
    "*",
]
WORDS = TEXT | st.sampled_from(AWKWARD)


def shell_words(line: str) -> list[str]:
    """The words into which bash splits a command line."""
    script = f"set -f; printf '%s\\0' {line}"
    done = subprocess.run(["bash", "-c", script], check=True, capture_output=True)
    return done.stdout.decode().split("\0")[:-1]


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_a_shell_splits_a_line_into_its_words(words: list[str]) -> None:
    """The line is printable and has no line feed; bash splits it into the words of which it was made."""
    line = command_line(["printf", *words])
    assert printable(line) == line
    assert "\t" not in line
    assert shell_words(line)[1:] == words


def selectors() -> st.SearchStrategy[str]:
    quoted = TEXT.map(lambda text: text.replace("'", "").replace("\\", "").replace("\n", " ").replace("\f", " "))
    return (
        st.sampled_from(["css:.ad", "css:p > b", "css:-moz-x", "xpath://p[1]", 'xpath://p[@class="it\'s"]'])
        | st.sampled_from(["jsonpath:$.a[*]", "jsonpath:$['a b']", "css: p:nth-of-type(2)\n"])
        | quoted.filter(lambda text: all(map(is_xml, text))).map(lambda text: f"xpath://p[.='{text}']")
    )


def is_xml(character: str) -> bool:
    return character in "\t\n\r" or 0x20 <= ord(character) <= 0xD7FF or 0xE000 <= ord(character) <= 0xFFFD


def is_header_value(text: str) -> bool:
    """Whether the text may be sent as a header; other values are refused when they are given."""
    return text.isascii() and text.isprintable()


def kinds() -> st.SearchStrategy[tuple[tuple[str, ...], tuple[str, ...]]]:
    shuffled = st.permutations(ATTRIBUTE_KINDS)
    return st.tuples(shuffled, st.integers(0, 4), st.integers(0, 4)).map(
        lambda drawn: (tuple(drawn[0][: drawn[1]]), tuple(drawn[0][5 : 5 + drawn[2]]))
    )


@st.composite
def page_rules(draw: st.DrawFn) -> PageRules:
    attributes, ignored = draw(kinds())
    order = draw(st.sampled_from(["", "ordered", "unordered"]))
    graphs = tuple(draw(st.lists(st.sampled_from(["all", "default", "urn:x", "http://x/?a='b'"]), max_size=2)))
    expressions = WORDS.filter(bool).map(re.escape) | st.sampled_from(["-\\d+", r"Buy .* now", "\\n", "a|b"])
    handlers = ["auto", "sparql"] if graphs else ["auto", "http", "rdf", "feed", "sitemap", "browser"]
    return PageRules(
        handler=draw(st.sampled_from(handlers)),
        layer=draw(st.sampled_from(["auto", "raw", "text", "main", "links", "data"])),
        include=tuple(draw(st.lists(selectors(), max_size=3))),
        ignore=tuple(draw(st.lists(selectors(), max_size=3))),
        ignore_text=tuple(draw(st.lists(expressions, max_size=3))),
        min_size=draw(st.floats(0.0, 1.0)),
        unordered=order == "unordered",
        ordered=order == "ordered",
        indentation=draw(st.booleans()),
        accept=draw(WORDS.filter(is_header_value)),
        query=draw(WORDS),
        entries=draw(st.booleans()),
        graphs=graphs,
        page_rows=draw(st.integers(0, 1_000_000)),
        attributes=attributes,
        ignore_attributes=ignored,
    )


@pytest.fixture(scope="module")
def rules_command() -> Any:
    """The command `rules`, as the command line has it."""
    root = typer.main.get_command(application("rules"))
    assert hasattr(root, "commands")
    return root.commands["rules"]


@given(rules=page_rules())
def test_the_options_of_rules_define_the_same_rules(rules_command: Any, rules: PageRules) -> None:
    """Rules -> options -> a line -> bash -> parsed options -> the same rules."""
    words = ["--tag", "t"]
    for option, value in page_rules_options(rules):
        words += option_words(option, value)
    values = rules_command.make_context("rules", shell_words(command_line(["rules", *words]))[1:]).params
    again = page_rules_of(**{name: value for name, value in values.items() if name not in ("address", "tag", *OTHER)})
    assert (again or PageRules()) == rules


OTHER = ("clear", "create", "home", "as_json")


@pytest.mark.parametrize(
    "options",
    [
        ("--ignore", "css:.ad", "--ignore-text=-\\d+", "--min-size", "0.00001", "--layer", "text"),
        ("--query", 'SELECT *\nWHERE { ?s ?p "it\'s" }\t# all', "--page-rows", "500", "--accept", "text/*;q=0.5"),
        ("--graph", "urn:a", "--graph", "all", "--handler", "auto"),
        ("--select", "css:p", "--select", "css:p", "--unordered", "--attributes", "image,label"),
    ],
)
@pytest.mark.parametrize("target", ["page", "tag"])
def test_what_rules_prints_can_be_typed(
    home: Path, server: LocalServer, call: Call, options: tuple[str, ...], target: str
) -> None:
    """Typed into a shell, the line sets equal rules where there are none or others, and changes nothing otherwise."""
    call("--home", home, "watch", server.url())
    named = [server.url()] if target == "page" else ["--tag=-odd tag's"]
    create = ["--create"] if target == "tag" else []
    assert call("--home", home, "rules", *named, *options, *create).code == 0
    rules = call("--home", home, "rules", *named, "--json").json["rules"]
    assert rules
    line = call("--home", home, "rules", *named).text
    assert line.count("\n") == 1
    for others in ((), ("--clear",), ("--clear", "--ignore", "css:i", "--indentation")):
        if others:
            call("--home", home, "rules", *named, *others, *create)
        typed = f"webstrata() {{ {shlex.quote(sys.executable)} -c 'from webstrata.cli import main; main()' \"$@\"; }}"
        done = subprocess.run(
            ["bash", "-c", f"{typed}\n{line}"],
            check=True,
            capture_output=True,
            env=environment(),
        )
        assert done.stdout.decode() == line
        assert call("--home", home, "rules", *named, "--json").json["rules"] == rules
