"""Every command: one JSON document with --json, and sentences instead of tracebacks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import typer.main

from tests.cli.conftest import PROGRAM, Call, Demo, environment
from tests.flows.verify.packages import make_package
from webstrata import __version__
from webstrata.cli.app import COMMANDS, application

PAGE = "http://llvm.test/"
DATA = Path(__file__).parents[1] / "data"
HISTORIES = DATA.parents[1] / "src" / "webstrata" / "lab" / "data" / "histories"

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "init": (),
    "watch": ("http://new.example/",),
    "unwatch": (PAGE,),
    "list": (),
    "crawl": ("--quiet",),
    "run": ("--for", "0s", "--quiet"),
    "status": (),
    "boost": ("news",),
    "interval": (),
    "changes": ("--since", "2000"),
    "log": (PAGE,),
    "diff": (PAGE,),
    "cat": (PAGE,),
    "why": (PAGE,),
    "forecast": (PAGE,),
    "select": ("--top", "5"),
    "rules": (PAGE, "--ignore", "css:footer"),
    "tag": (PAGE, "--add", "mine"),
    "snooze": (PAGE, "--end"),
    "importance": ("--top", "3"),
    "preview": (PAGE, "--ignore", "css:footer"),
    "noise": ("http://leancommunity.test/lean_projects.html", "--all"),
    "fingerprint": ("OUT/a.html", "--url", PAGE),
    "compare": ("OUT/a.html", "OUT/b.html"),
    "plan": ("--offline",),
    "estimate": ("--store",),
    "settings": (),
    "check": (),
    "reindex": (),
    "rebuild": ("--replace",),
    "import timemap": (str(Path(__file__).parents[1] / "data" / "timemaps" / "saved.link"),),
    "import cdx": (str(DATA / "cdx" / "example.cdxj"),),
    "import warc": (str(DATA / "conformance" / "warc" / "files" / "example-resource.warc.gz"),),
    "import parquet": (str(HISTORIES / "wikipedia.parquet"), "--url", "https://example.org/{page}", "--dry-run"),
    "import gaps": (str(DATA / "gaps" / "observations.tsv"),),
    "import list": (),
    "export wacz": ("OUT/x.wacz",),
    "export warc": ("OUT/x.warc.gz",),
    "export cdxj": ("OUT/x.cdxj",),
    "export visits": ("OUT/visits.parquet",),
    "export changes": ("OUT/changes.csv",),
    "export forecasts": ("OUT/forecasts.parquet",),
    "certificate show": ("OUT/site.wacz",),
    "certificate verify": ("OUT/site.wacz",),
    "certificate verifier": (),
    "certificate report": ("OUT/site.wacz", "--out", "OUT/report.html"),
    "certificate keys make": ("mine",),
    "certificate keys show": (),
    "certificate keys rotate": (),
    "certificate keys revoke": ("old", "--reason", "lost"),
    "certificate log verify": ("OUT",),
    "coherence": ("--store", "llvm.test"),
    "lab cold-start": ("--histories", str(HISTORIES / "wikipedia.parquet"), "--seeds", "1"),
    "train": ("--recorded", "shipped", "--method", "boosting"),
    "lab groups": ("--pages", "5"),
    "lab crawl-time": ("--crawls", "1", "--teach", "0"),
    "lab hacs": ("--w", "1"),
    "lab live": ("--days", "4", "--pages", "2"),
    "lab sharp": ("--runs", "2", "--starts", "0"),
    "lab policies": ("--policies", "week", "--years", "0.5"),
}
"""Arguments with which each command works in the demo's home; `demo`, `capture` and `import wayback` have own tests."""

WITHOUT_HOME = {
    *("fingerprint", "compare", "certificate show", "certificate verify", "certificate verifier"),
    "certificate report",
    *("lab cold-start", "lab crawl-time", "lab groups", "lab hacs", "lab live", "lab policies", "lab sharp"),
}
"""Commands that work on files and need no home."""


PRINTS_TEXT = ("changes", "diff", "certificate verifier")
"""Commands that print lines of pages or programs, which may begin with any indentation."""


@pytest.fixture
def changed_home(damaged: Path, call: Call) -> Path:
    """A copy of the demo's home with a tag, and a key that no longer signs."""
    assert call("--home", damaged, "tag", PAGE, "--add", "news").code == 0
    assert call("--home", damaged, "certificate", "keys", "make", "old").code == 0
    assert call("--home", damaged, "certificate", "keys", "rotate").code == 0
    return damaged


def words_for(command: str, folder: Path) -> list[str]:
    """The arguments of a command, with files to read and a folder to write to."""
    if command in WITHOUT_HOME:
        (folder / "a.html").write_text("<title>A</title><p>one")
        (folder / "b.html").write_text("<title>A</title><p>two")
        if "certificate" in command:
            make_package(folder).rename(folder / "site.wacz")
    return [word.replace("OUT", str(folder)) for word in ARGUMENTS[command]]


def every_command() -> dict[str, list[str]]:
    """Each command with its options."""
    found: dict[str, list[str]] = {}

    def walk(command: object, name: str) -> None:
        for child, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{name} {child}".strip())
        if not hasattr(command, "commands"):
            found[name] = [option for parameter in command.params for option in parameter.opts]  # type: ignore[attr-defined]

    walk(typer.main.get_command(application()), "")
    return found


def test_all_have_json() -> None:
    """Every command has --json, and --home if it uses a home."""
    commands = every_command()

    assert {name.split()[0] for name in commands} == set(COMMANDS)
    assert [name for name, options in commands.items() if "--json" not in options] == []
    assert {name for name, options in commands.items() if "--home" not in options} == WITHOUT_HOME
    assert set(commands) - {"demo", "capture", "import wayback"} == set(ARGUMENTS)


@pytest.mark.parametrize("command", [name for name in ARGUMENTS if name not in ("crawl", "run")])
def test_json(command: str, changed_home: Path, tmp_path: Path, call: Call) -> None:
    """With --json, stdout is exactly one JSON document and stderr is empty."""
    words = words_for(command, tmp_path)

    result = call("--home", changed_home, *command.split(), *words, "--json")

    assert result.code == 0, result.err
    assert isinstance(result.json, dict)
    assert result.err == ""


@pytest.mark.parametrize("command", ["crawl", "run"])
def test_json_of_a_crawl(command: str, home: Path, call: Call) -> None:
    """The same for the commands that visit pages, without due pages."""
    result = call("--home", home, command, *ARGUMENTS[command], "--json")

    assert result.code == 0, result.err
    assert result.json.keys() == {"visits", "changed", "failed", "cut", "bytes", "seconds", "failures"}


@pytest.mark.parametrize("command", [name for name in ARGUMENTS if name not in ("crawl", "run", "cat")])
def test_plain_in_a_pipe(command: str, changed_home: Path, tmp_path: Path, call: Call) -> None:
    """In a pipe there are no colours, and no line is wrapped."""
    words = words_for(command, tmp_path)

    result = call("--home", changed_home, *command.split(), *words)

    assert result.code == 0, result.err
    assert result.text.strip()
    assert "\x1b" not in result.text
    assert not any(
        line.startswith("                    ") for line in result.text.splitlines() if command not in PRINTS_TEXT
    )


def test_home_before_or_after(demo: Demo, call: Call) -> None:
    """--home before or after the command and $WEBSTRATA_HOME are equivalent; the option after the command wins."""
    expected = call("status", "--home", demo.home, "--json").json

    assert call("--home", demo.home, "status", "--json").json == expected
    assert call("status", "--json", WEBSTRATA_HOME=str(demo.home)).json == expected
    assert call("--home", "/nowhere", "status", "--home", demo.home, "--json").json == expected


def test_version_and_help(call: Call) -> None:
    """--version prints the version; without a command the help is printed, with exit code 2."""
    assert call("--version").text.startswith(f"webstrata {__version__} (")
    assert call("--help").code == 0
    assert call().code == 2


BAD_INPUT: list[tuple[str, int, str]] = [
    ("log nonsense", 2, "Write the whole URL"),
    ("log http://", 2, "Write the whole URL"),
    ("cat http://[::1", 2, "Write the whole URL"),
    ("why ftp://example.org/", 2, "only http and https URLs"),
    ("diff http://user:secret@example.org/", 2, "Remove the credentials"),
    ("log http://unknown.example/", 2, "`webstrata watch` adds it"),
    ("diff http://unknown.example/", 2, "`webstrata list` shows"),
    ("cat http://unknown.example/", 2, "`webstrata list` shows"),
    ("why http://unknown.example/", 2, "`webstrata list` shows"),
    ("unwatch http://unknown.example/", 2, "`webstrata list` shows"),
    (f"cat {PAGE} --at yesterday", 2, "like 2026-11-15"),
    (f"cat {PAGE} --at 1999", 2, "before that time"),
    (f"log {PAGE} --from 2023-13-01", 2, "like 2026-11-15"),
    (f"log {PAGE} --from 2024 --to 2023", 2, "Exchange them"),
    (f"diff {PAGE} --from 99999999999999", 2, "like 2026-11-15"),
    (f"diff {PAGE} --from 1999", 2, "before that time"),
    ("export cdxj x.cdxj --to tomorrow", 2, "like 2026-11-15"),
    ("export wacz x.zip", 2, "must end in .wacz"),
    ("export warc /nowhere/x.warc.gz", 1, "Choose another file"),
    ("export cdxj x.cdxj --url nonsense", 2, "Write the whole URL"),
    ("run --for ever", 2, "like 90s"),
    ("watch", 2, "Give URLs"),
    ("watch example.org/page", 2, "Did you mean https://example.org/page"),
    ("watch --from /nowhere/list", 2, "cannot read /nowhere/list"),
    ("watch --from /", 2, "cannot read /"),
    ("watch --weight inf http://example.org/", 2, "--weight"),
    ("watch --weight -1 http://example.org/", 2, "--weight"),
    ("watch --site nonsense", 2, "Write the whole URL"),
    ("watch --include x http://example.org/", 2, "--site"),
    ("settings --set nonsense", 2, "section.name=value"),
    ("settings --set polite.nonsense=1", 2, "`webstrata settings` lists"),
    ("settings --set polite.delay=soon", 2, "like 90s"),
    ("settings --set archive.max_file_size=huge", 2, "like 64KB"),
    ("settings --set fetch.connections=many", 2, "fetch.connections (--set)"),
    ("crawl --set schedule.policy=nonsense", 2, "your own is written module:Class"),
    ("crawl --set fetch.ca_file=/nowhere.pem", 2, "fetch.ca_file"),
    ("crawl --set fetch.allow_private=everything", 2, "everything"),
    ("crawl --set store.url=nonsense", 2, "Write sqlite:///path"),
    ("rules http://unknown.example/", 2, "`webstrata list` shows"),
    ("rules", 2, "either a watched URL or a --tag"),
    (f"rules {PAGE} --tag x", 2, "either a watched URL or a --tag"),
    (f"rules {PAGE} --ignore footer", 2, "css:"),
    (f"rules {PAGE} --ignore css:p[", 2, "is not a supported CSS selector"),
    (f"rules {PAGE} --ignore xpath://p[", 2, "XPath"),
    (f"rules {PAGE} --select jsonpath:$[", 2, "is not a JSONPath"),
    (f"rules {PAGE} --ignore-text (", 2, "("),
    (f"rules {PAGE} --layer depth", 2, "--layer"),
    (f"rules {PAGE} --handler ftp", 2, "--handler"),
    (f"rules {PAGE} --min-size 2", 2, "--min-size"),
    ("watch http://example.org/ --select css:]", 2, "is not a supported CSS selector"),
    ("watch --site http://example.org/ --layer raw", 2, "rules --tag"),
    ("preview nonsense", 2, "Write the whole URL"),
    ("preview http://10.0.0.1/", 2, "blocked"),
    (f"preview {PAGE} --ignore css:p[", 2, "is not a supported CSS selector"),
    (f"noise {PAGE} --count 99", 2, "there is no place 99"),
    ("noise http://unknown.example/", 2, "`webstrata list` shows"),
    ("fingerprint /nowhere/x.html", 2, "cannot read /nowhere/x.html"),
    ("fingerprint /", 2, "cannot read /"),
    ("compare /nowhere/x.html /nowhere/y.html", 2, "cannot read /nowhere/x.html"),
    ("list --limit 0", 2, "--limit"),
    ("list --state asleep", 2, "--state"),
    ("list --nonsense", 2, "No such option"),
    ("nonsense", 2, "No such command"),
    ("log --errors --changes", 2, "exclude each other"),
    (f"log {PAGE} --host llvm.test", 2, "leave out the URL"),
    ("changes --since soon", 2, "Write it like"),
    ("changes --format html", 2, "--format"),
    ("export visits x.txt", 2, ".parquet or .csv"),
    ("estimate", 2, "--store"),
]


@pytest.mark.parametrize(("words", "code", "sentence"), BAD_INPUT, ids=[words for words, *_ in BAD_INPUT])
def test_bad_input(words: str, code: int, sentence: str, demo: Demo, call: Call) -> None:
    """Bad input causes an exit code and a sentence on stderr that says what to do; stdout stays empty."""
    result = call("--home", demo.home, *words.split())

    assert (result.code, result.text) == (code, ""), result.err
    assert sentence in result.err
    assert "Traceback" not in result.err
    assert "internal error" not in result.err


READING = [name for name in ARGUMENTS if name not in ("init", "settings", *WITHOUT_HOME)]


@pytest.mark.parametrize("command", READING)
def test_missing_home(command: str, tmp_path: Path, call: Call) -> None:
    """Without a home every command says how to create it, and creates nothing."""
    absent = tmp_path / "absent"
    words = words_for(command, tmp_path)

    result = call("--home", absent, *command.split(), *words)

    assert result.code == 1
    assert f"webstrata --home {absent} init" in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["init", "demo --days 1"])
def test_unwritable_home(command: str, tmp_path: Path, call: Call) -> None:
    """A folder where no home can be created is named, with what to do."""
    (tmp_path / "file").write_text("in the way")

    result = call("--home", tmp_path / "file" / "home", *command.split())

    assert result.code == 1
    assert "Choose another folder with --home" in result.err


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("polite = [", "is not valid TOML"),
        ("contact = 'x'", "Put it under a [section] heading"),
        ("[polite]\nnonsense = 1", "there is no setting 'polite.nonsense'"),
        ("[polite]\ndelay = 'soon'", "like 90s"),
        ("[polite]\nconnections_per_host = 0", "polite.connections_per_host"),
        ("[fetch]\nhosts = 3", "fetch.hosts"),
        ("\x00\xff", "is not valid TOML"),
    ],
)
def test_bad_settings_file(settings: str, sentence: str, home: Path, call: Call) -> None:
    """A bad settings file stops every command with a sentence about it."""
    (home / "webstrata.toml").write_bytes(settings.encode("latin-1"))

    result = call("--home", home, "status")

    assert result.code == 2
    assert sentence in result.err


def test_damaged_database(home: Path, call: Call) -> None:
    """A file that is not a database is reported in a sentence."""
    for file in home.glob("webstrata.db*"):
        file.unlink()
    (home / "webstrata.db").write_bytes(b"this was a database once" * 1000)

    result = call("--home", home, "list")

    assert result.code == 1
    assert "Traceback" not in result.err
    assert "internal error" not in result.err
    assert "database" in result.err


def test_reader_leaves(demo: Demo) -> None:
    """If the reader of the output closes the pipe, the command ends without a message."""
    shell = ["sh", "-c", '"$@" | head -n 1; exit 0', "sh", *PROGRAM, "--home", str(demo.home), "list", "--json"]

    result = subprocess.run(shell, capture_output=True, text=True, env=environment(), timeout=60, check=True)

    assert result.stdout == "{\n"
    assert result.stderr == ""
