"""Values of settings are checked when the settings are loaded: a bad value names its key, source and remedy."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from webstrata import settings as settings_file
from webstrata.cli.session import load_settings
from webstrata.errors import UsageError
from webstrata.home import Home
from webstrata.node import Node
from webstrata.settings import Settings, all_settings

KEYS = [row.key for row in all_settings(Settings(), {})]
SECTIONS = sorted({key.partition(".")[0] for key in KEYS})

BAD = [
    ("capture.timestamp_url=file:///etc/passwd", "only http and https"),
    ("capture.timestamp_url=https://tsa.example:port/", "the port in"),
    ("capture.timestamp_url=tsa.example", "not a URL"),
    ("capture.timestamp_url=https://:80/", "not a URL"),
    ("capture.domain_key=/x.pem", "belong together"),
    ("capture.max_pages=0", ">= 1"),
    ("store.url=postgresql://user@host:port/db", "not a database URL"),
    ("store.url=postgresql://user@host:99999999999999999999999/db", "not a database URL"),
    ("store.url=mysql://host/db", "unknown kind of database"),
    ("store.url=sqlite://", "needs a file"),
    ("polite.contact=me@example.org\r\nX-Injected: 1", "control character"),
    ("polite.contact=jürgen@example.org", "User-Agent header"),
    ("polite.robots_token=my bot", "product token"),
    ("polite.robots_token=", "product token"),
    ("archive.operator=a\nb", "control character"),
    ("fetch.allow_private=127.0.0.1", "not a network with a port"),
    ("fetch.allow_private=127.0.0.1/32:http", "not a network with a port"),
    ("fetch.allow_private=127.0.0.1/33:80", "not a network with a port"),
    ("fetch.hosts=a.test=nowhere", "not an address"),
    ("fetch.hosts=a.test=127.0.0.1:port", "not an address"),
    ("fetch.hosts=a.test=127.0.0.1:99999", "not an address"),
    ("fetch.hosts=a b=127.0.0.1", "not a host name"),
    ("fetch.hosts=a.test", "not an address"),
    ("fetch.name_servers=dns.example", "not an address"),
    ("fetch.name_servers=127.0.0.1:dns", "not an address"),
    ("fetch.max_body=99999999999999TB", "too large"),
    ("fetch.connect_timeout=99999999999999d", "100 years"),
    ("fetch.visit_requests=99999999999999999999999999", "fetch.visit_requests"),
    ("schedule.policy=nosuch", "no policy 'nosuch'"),
    ("schedule.policy=gold", "only the lab"),
    ("schedule.policy=my-module:Class", "no policy"),
    ("schedule.min_interval=0s", "longer than 0"),
    ("schedule.max_interval=1s", "shorter than schedule.min_interval"),
    ("schedule.freshness=2", "<= 1"),
    ("budget.total=lots", "Write 500/day"),
    ("budget.tags=news=lots", "Write 500/day"),
    ("budget.hosts=a.example", "Write 500/day"),
]


@pytest.mark.parametrize(("flag", "says"), BAD, ids=[flag[:50] for flag, _ in BAD])
def test_bad_values(flag: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad value is refused by the loader, from `--set`, the environment and the file alike."""
    key, _, value = flag.partition("=")
    with pytest.raises(UsageError) as refused:
        load_settings(tmp_path, [flag])
    assert says in str(refused.value)
    assert "capture.domain" in str(refused.value) or f"{key} (--set)" in str(refused.value)
    name = f"WEBSTRATA_{key.replace('.', '_')}".upper()
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f"environment {name}" if "domain" not in key else "belong together"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    "flag",
    [
        "capture.timestamp_url=https://tsa.example:8080/stamp",
        "store.url=postgresql://user@/db?host=/run/postgresql",
        "store.url=sqlite:////srv/x.db",
        "polite.contact=https://example.org/bot (team)",
        "fetch.hosts=a.test=[::1]:80,b.test=127.0.0.1",
        "schedule.policy=mymodule.policies:Mine",
        "schedule.policy=dyn",
        "budget.tags=news=0.5/page/day",
        "schedule.max_interval=10m",
    ],
)
def test_good_values(flag: str, tmp_path: Path) -> None:
    """Values that are in use are accepted, without opening or importing what they name."""
    load_settings(tmp_path, [flag])


TEXTS = st.one_of(
    st.text(),
    st.from_regex(r"[a-z+]{0,12}:/{0,3}[a-z0-9.@:%\[\]/?=&-]{0,40}", fullmatch=True),
    st.from_regex(r"-?[0-9]{0,400}(\.[0-9]{1,3})?[a-zA-Z/]{0,5}", fullmatch=True),
    st.from_regex(r"[0-9.:\[\]/=,*-]{0,40}", fullmatch=True),
    st.sampled_from(["nan", "inf", "-inf", "1e999", "true", "None", "\ud800", "\x00", "os:getcwd", "a=b=c"]),
)


@pytest.mark.parametrize("key", KEYS)
@hypothesis_settings(max_examples=60)
@given(value=TEXTS)
@example(value="")
@example(value="9" * 5000)
def test_any_text(key: str, value: str) -> None:
    """Any text is accepted, or refused with a sentence; the node accepts what the loader accepted."""
    with TemporaryDirectory() as folder:
        path = Path(folder)
        try:
            settings, _ = load_settings(path, [f"{key}={value}"])
        except UsageError:
            return
        node = Node(Home(path), settings)
        assert node.agent.isascii()
        node.budget()
        if settings.schedule.policy.isalnum():
            node.schedule()


@pytest.mark.parametrize("section", SECTIONS)
@given(
    table=st.recursive(
        st.one_of(st.integers(), st.floats(), st.booleans(), st.text(max_size=5)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
        max_leaves=4,
    ),
    data=st.data(),
)
def test_any_type(section: str, table: object, data: st.DataObject) -> None:
    """A value of any type in the file is accepted, or refused with a sentence."""
    key = data.draw(st.sampled_from([key for key in KEYS if key.startswith(section)]))
    tree: dict[str, dict[str, object]] = {}
    with suppress(UsageError):
        settings_file._set(tree, {}, key, table, "webstrata.toml")
        settings_file._convert(tree, {})
