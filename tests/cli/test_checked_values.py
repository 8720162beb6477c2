"""Commands with values that cannot be used: they end before anything is opened or created."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call, call_process


@pytest.mark.parametrize(
    "words",
    [
        ("init",),
        ("status",),
        ("settings", "--json"),
        ("list",),
    ],
)
@pytest.mark.parametrize("flag", ["schedule.policy=nosuch", "capture.timestamp_url=file:///x", "budget.total=x"])
def test_nothing_is_created(words: tuple[str, ...], flag: str, tmp_path: Path) -> None:
    """A command with a bad value in its environment ends with exit code 2 and creates nothing."""
    key, _, value = flag.partition("=")
    home = tmp_path / "home"
    result = call_process("--home", home, *words, **{f"WEBSTRATA_{key.replace('.', '_')}".upper(): value})
    is_home_needed = words[0] in ("status", "list")
    assert result.code == (1 if is_home_needed else 2), result.err
    assert is_home_needed or key in result.err
    assert result.out == b""
    assert not home.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "--policy", "nosuch"),
        ("run", "--policy", "nosuch", "--for", "1s"),
        ("crawl", "--set", "schedule.policy=nosuch"),
        ("plan", "--set", "schedule.policy=nosuch"),
        ("capture", "http://a.example/", "--set", "schedule.policy=nosuch"),
        ("demo", "--policy", "nosuch"),
        ("crawl", "--policy", "no_such_module:Policy"),
        ("crawl", "--policy", "webstrata.clock:RealClock"),
        ("crawl", "--policy", "os:getcwd"),
    ],
)
def test_an_unknown_policy(words: tuple[str, ...], home: Path, call: Call, tmp_path: Path) -> None:
    """An unknown policy, or one that cannot be loaded, ends a command before anything is opened or created."""
    (home / "lock").unlink(missing_ok=True)
    before = sorted(home.iterdir())
    place = home if words[0] != "demo" else tmp_path / "demo"
    result = call("--home", place, *words)
    assert result.code == 2, result.err
    assert "policy" in result.err
    assert sorted(home.iterdir()) == before
    assert not (tmp_path / "demo").exists()


def test_a_file_of_authorities(home: Path, call: Call, tmp_path: Path) -> None:
    """A file of certificates that is missing or damaged is an error of the settings for crawls and captures."""
    (tmp_path / "bad.pem").write_text("no certificate")
    for file in (tmp_path / "missing.pem", tmp_path / "bad.pem", tmp_path):
        for words in (("crawl",), ("capture", "http://a.example/")):
            result = call("--home", home, *words, "--set", f"fetch.ca_file={file}")
            assert result.code == 2, result.err
            assert f"fetch.ca_file: {file} cannot be used" in result.err


URL_COMMANDS = [
    ("watch", "URL"),
    ("watch", "--site", "URL"),
    ("unwatch", "URL"),
    ("tag", "URL", "--add", "x"),
    ("crawl", "URL"),
    ("interval", "URL", "--min", "1h"),
    ("snooze", "URL", "--for", "1h"),
    ("log", "URL"),
    ("diff", "URL"),
    ("rules", "URL"),
    ("preview", "URL", "--live"),
    ("noise", "URL"),
    ("cat", "URL"),
    ("why", "URL"),
    ("capture", "URL"),
    ("coherence", "--store", "URL"),
    ("export", "cdxj", "OUT", "--url", "URL"),
]


@pytest.mark.parametrize("url", ["http://host:port/", "http://host:99999/", "http://[::1/", "http://a.example:-1/"])
@pytest.mark.parametrize("words", URL_COMMANDS, ids=" ".join)
def test_urls_with_bad_ports(words: tuple[str, ...], url: str, home: Path, call: Call, tmp_path: Path) -> None:
    """Every command that takes a URL refuses one with a wrong port or address, and says what is wrong."""
    given = {"URL": url, "OUT": str(tmp_path / "out")}
    result = call("--home", home, *(given.get(word, word) for word in words))
    assert result.code == 2, (result.text, result.err)
    assert "port" in result.err or "not a URL" in result.err
    assert "internal error" not in result.err


HUGE = "99999999999999999999999999"
BAD_OPTIONS = [
    ("watch", "--site", "http://b.example/", "--max-pages", HUGE),
    ("watch", "--site", "http://b.example/", "--depth", HUGE),
    ("watch", "http://b.example/", "--weight", "1e308"),
    ("watch", "http://b.example/", "--weight", "nan"),
    ("watch", "http://b.example/", "--every", f"{HUGE}w"),
    ("watch", "http://b.example/", "--accept", "text/html\r\nX-Injected: 1"),
    ("watch", "http://b.example/", "--tag", "a\x00b"),
    ("watch", "http://b.example/", "--tag", ""),
    ("watch", "http://b.example/", "--tag", "x" * 3000),
    ("tag", "http://a.example/", "--add", "a\nb"),
    ("log", "http://a.example/", "--limit", HUGE),
    ("list", "--limit", HUGE),
    ("boost", "news", "--for", f"{HUGE}d"),
    ("boost", "news", "--factor", "inf"),
    ("snooze", "http://a.example/", "--for", f"{HUGE}d"),
    ("interval", "http://a.example/", "--max", f"{HUGE}d"),
    ("run", "--for", f"{HUGE}d"),
    ("plan", "--within", f"{HUGE}d"),
    ("capture", "http://a.example/", "--delay", f"{HUGE}d"),
    ("capture", "http://a.example/", "--delay", "-1"),
    ("capture", "http://a.example/", "--max-time", f"{HUGE}d"),
    ("capture", "http://a.example/", "--when", "best", "--within", f"{HUGE}d"),
    ("capture", "http://a.example/", "--sharp", "--repair", HUGE),
    ("capture", "http://a.example/", "--max-pages", HUGE),
    ("capture", "http://a.example/", "--tau", "nan"),
    ("init", "--contact", "jürgen@example.org"),
]


@pytest.mark.parametrize("words", BAD_OPTIONS, ids=lambda words: " ".join(words)[:60].replace("\x00", " "))
def test_bad_options(words: tuple[str, ...], home: Path, call: Call) -> None:
    """Values of options outside their range are refused with exit code 2, and never end in an internal error."""
    call("--home", home, "watch", "http://a.example/", "--tag", "news")
    result = call("--home", home, *words)
    assert (result.code, result.out) == (2, b""), result.err
    assert "internal error" not in result.err
    assert [page["url"] for page in call("--home", home, "list", "--json").json["pages"]] == ["http://a.example/"]
