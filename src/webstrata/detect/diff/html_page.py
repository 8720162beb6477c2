"""Self-contained HTML pages of differences: of two versions, and of all changes of a page in a period.

The content security policy of the pages forbids scripts and requests. Pages need no JavaScript, and follow the light or
dark scheme of the reader's system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from msgspec import Struct

from webstrata.detect.diff.difference import Difference
from webstrata.detect.diff.html import HtmlDifference

MAX_STORY_ROWS = 200
"""Rows of each table of one change in a story."""

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--page:#fff;--ink:#1f2328;--grey:#57606a;--link:#0550ae;
--del:#ffebe9;--del-word:#ffb8b0;--add:#e6ffec;--add-word:#9ee8b2}
@media (prefers-color-scheme:dark){:root{--page:#14171c;--ink:#e4e7eb;--grey:#9198a1;--link:#79b8ff;
--del:#4a1f22;--del-word:#8e2f33;--add:#163a20;--add-word:#22703a}}
body{font:15px/1.55 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;
background:var(--page);color:var(--ink)}
h1{font-size:1.3rem;overflow-wrap:anywhere;margin:0 0 .3rem}
h2{font-size:1.05rem;margin:2.2rem 0 .2rem;padding-top:.9rem;border-top:1px solid var(--line)}
h3{font-size:.9rem;margin:1.2rem 0 .4rem}
p{margin:.3rem 0;overflow-wrap:anywhere}
.note,figcaption,summary,.at{color:var(--grey)}
summary{cursor:pointer;font-size:.85rem;margin:.8rem 0 .4rem}
table{font:13px/1.5 ui-monospace,monospace;border-collapse:collapse;border:1px solid var(--line);width:100%}
.sides,.values,.entries{table-layout:fixed}
.sides td{width:50%}
.values th:first-child{width:22%}
td,th{padding:.15rem .6rem;white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top;text-align:left}
th{font-weight:600;border-bottom:1px solid var(--line)}
td+td,th+th{border-left:1px solid var(--line)}
tr+tr .at{border-top:1px solid var(--line)}
.at{background:var(--soft)}
.summary td,.summary th,.rows td{white-space:normal;border-bottom:1px solid var(--line)}
.summary{font:inherit;font-size:.9rem}
.summary th,.summary td:nth-child(-n+3){white-space:nowrap;overflow-wrap:normal;font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}
.rows td,.rows th{white-space:normal;overflow-wrap:normal;min-width:3rem}
.del{background:var(--del)}
.add{background:var(--add)}
del{background:var(--del-word);text-decoration:line-through;text-decoration-thickness:1px;border-radius:2px}
ins{background:var(--add-word);text-decoration:none;border-radius:2px}
ul{font:13px/1.5 ui-monospace,monospace;padding-left:0;list-style:none;margin:.2rem 0}
li{padding:.05rem .6rem;overflow-wrap:anywhere}
.noise{color:var(--grey)}
.noise .del,.noise .add,.noise del,.noise ins{background:var(--soft)}
.pictures{display:flex;flex-wrap:wrap;gap:1rem}
figure{flex:1 1 20rem;margin:0;min-width:0}
img{max-width:100%;border:1px solid var(--line);
background:repeating-conic-gradient(#bbb3 0 25%,#0000 0 50%) 0/16px 16px}
figcaption{font-size:.85rem}
a{color:var(--link)}
@media (max-width:45rem){.sides td{display:block;width:auto;border:0}.sides .same td+td,.sides td:empty{display:none}
.summary th:nth-child(3),.summary td:nth-child(3){display:none}}
""".strip()


def as_html(difference: Difference, *, title: str) -> str:
    """The page of the difference of two versions."""
    names = (name.removeprefix(title).strip() for name in (difference.before_name, difference.after_name))
    versions = f'<p class="note">{escape(" → ".join(names))}</p>'
    sections = "\n".join(HtmlDifference(difference).sections()) or "<p>No difference.</p>"
    return "".join([_head(title), f"<h1>{escape(title)}</h1>\n{versions}\n{sections}\n", _END])


class ChangeSummary(Struct, frozen=True, kw_only=True):
    """What a story says about one change."""

    at: str
    kind: str
    significance: str
    reasons: str
    quiet: str
    """The visits after it without a change; empty if there were none."""


def story_html(
    changes: list[ChangeSummary],
    differences: Iterable[Difference | None],
    *,
    title: str,
    period: str,
    quiet_first: str,
) -> Iterator[str]:
    """The page of all changes in a period, in pieces: a table of all changes, then a section for each.

    `differences` are in the order of `changes`; each is made when its section is written.
    """
    yield _head(title)
    yield f'<h1>{escape(title)}</h1>\n<p class="note">{escape(period)}</p>\n'
    if changes:
        yield '<table class="summary">\n<tr><th>time</th><th>kind</th><th>significance</th><th>reasons</th></tr>\n'
        yield "".join(_summary(number, change) for number, change in enumerate(changes, 1))
        yield "</table>\n"
    for number, (change, difference) in enumerate(zip(changes, differences, strict=True), 1):
        yield f'<p class="note">{escape(change.quiet)}</p>\n' if change.quiet else ""
        yield f'<section id="change-{number}">\n<h2>{escape(change.at)}: {escape(change.kind)}</h2>\n'
        yield f"<p>{escape(_sentence(change))}</p>\n"
        if difference is not None:
            sections = "\n".join(HtmlDifference(difference, max_rows=MAX_STORY_ROWS).sections())
            yield sections or '<p class="note">The compared forms of both versions are equal.</p>'
        yield "</section>\n"
    yield f'<p class="note">{escape(quiet_first)}</p>\n' if quiet_first else ""
    yield _END


def _summary(number: int, change: ChangeSummary) -> str:
    return (
        f'<tr><td><a href="#change-{number}">{escape(change.at)}</a></td><td>{escape(change.kind)}</td>'
        f"<td>{escape(change.significance)}</td><td>{escape(change.reasons)}</td></tr>\n"
    )


def _sentence(change: ChangeSummary) -> str:
    return f"Significance {change.significance}: {change.reasons}" if change.significance else change.reasons


def _head(title: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>
{_STYLE}
</style>
</head>
<body>
"""


_END = "</body>\n</html>\n"
