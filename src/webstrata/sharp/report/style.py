"""The style sheet of reports, and the filter of their tables, which is the only script."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--grey:#57606a;--line:#d0d7de;--soft:#f6f8fa;--link:#0550ae;
--sharp:#0f766e;--blurred:#b91c1c;--warn:#b45309;--mute:#64748b;--box:#f0fdfa;--alarm:#fff7ed}
@media (prefers-color-scheme:dark){:root{--page:#14171c;--ink:#e4e7eb;--grey:#9aa4b0;--line:#343b45;--soft:#1b2027;
--link:#79b8ff;--sharp:#2dd4bf;--blurred:#f87171;--warn:#fbbf24;--mute:#94a3b8;--box:#10282a;--alarm:#2c2213}}
*{box-sizing:border-box}
body{font:15px/1.55 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1.2rem;background:var(--page);
color:var(--ink)}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.4rem 0 .6rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:.95rem;margin:1.2rem 0 .3rem}
p,li,dd,td,pre,blockquote{overflow-wrap:anywhere}
p{margin:.4rem 0}
.note,figcaption{color:var(--grey);font-size:.9rem}
.proof{background:var(--box);border-left:4px solid var(--sharp);padding:.9rem 1.1rem;margin:1.2rem 0;font-size:1.15rem}
.proof.none,.alarm{background:var(--alarm);border-left:4px solid var(--warn)}
.alarm{padding:.7rem 1.1rem;margin:1rem 0}
.limits li{margin:.35rem 0}
.tiles{display:flex;flex-wrap:wrap;gap:.6rem;padding:0;margin:.6rem 0;list-style:none}
.tiles li{border:1px solid var(--line);border-top:4px solid var(--mute);border-radius:4px;
padding:.4rem .9rem;min-width:7rem}
.tiles b{display:block;font-size:1.5rem;line-height:1.3;font-variant-numeric:tabular-nums}
.tiles .sharp{border-top-color:var(--sharp)}
.tiles .blurred{border-top-color:var(--blurred)}
.tiles .error,.tiles .unreachable{border-top-color:var(--warn)}
table{border-collapse:collapse;width:100%;font-size:.88rem}
td,th{padding:.35rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--grey);white-space:nowrap}
.wide{overflow-x:auto}
.when,.few{white-space:nowrap;font-variant-numeric:tabular-nums}
.few,.facts th{width:1%}
.facts th{white-space:nowrap}
.list>tbody>tr>td:nth-child(2){min-width:18rem}
.verdict{display:inline-block;font-size:.8rem;font-weight:600;color:var(--mute)}
.verdict.sharp,.verdict.coherent{color:var(--sharp)}
.verdict.blurred,.verdict.violative{color:var(--blurred)}
.verdict.error,.verdict.unreachable,.verdict.unknown{color:var(--warn)}
.mark{display:inline-block;border:1px solid var(--warn);color:var(--warn);border-radius:9px;padding:0 .5rem;
font-size:.75rem;margin-left:.3rem}
.yes{color:var(--sharp)}
.no{color:var(--blurred)}
a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
summary{cursor:pointer;color:var(--grey);font-size:.85rem}
.seen{border:1px solid var(--line);border-radius:4px;padding:.4rem .7rem;margin:.5rem 0;background:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.05rem .8rem;margin:.2rem 0;
font:12px/1.5 ui-monospace,monospace}
dt{color:var(--grey)}
dd{margin:0}
pre,code{font:12.5px/1.55 ui-monospace,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:4px;padding:.7rem .9rem;white-space:pre-wrap}
blockquote{margin:.6rem 0;padding-left:1rem;border-left:3px solid var(--line);color:var(--grey)}
figure{margin:1rem 0}
figure svg{width:100%;max-width:54rem;height:auto}
figure svg text{fill:var(--ink)!important}
figure svg :is(path,use)[style*="#e2e8f0"]{stroke:var(--line)!important}
figure svg :is(path,use)[style*="#000000"]{stroke:var(--grey)!important}
figure svg :is(path,use)[style*="#334155"]{stroke:var(--ink)!important}
figure svg :is(path,use)[style*="#0f766e"]{stroke:var(--sharp)!important}
figure svg :is(path,use)[style*="#b91c1c"]{stroke:var(--blurred)!important}
figure svg use[style*="#334155"]{fill:var(--ink)!important}
figure svg use[style*="#0f766e"]{fill:var(--sharp)!important}
figure svg use[style*="#b91c1c"]{fill:var(--blurred)!important}
figure svg [id^=patch_1] path,figure svg [id^=patch_2] path{fill:none!important}
.filter{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center;margin:.6rem 0}
.filter[hidden]{display:none}
.filter input{font:inherit;padding:.25rem .5rem;min-width:20rem;color:inherit;background:var(--soft);
border:1px solid var(--line);border-radius:4px}
@media print{:root{--page:#fff;--ink:#000;--grey:#444;--line:#bbb;--soft:#fff;--box:#fff;--alarm:#fff;--link:#000;
--sharp:#0f766e;--blurred:#b91c1c;--warn:#b45309}
body{max-width:none;margin:0;font-size:10pt}.filter{display:none}tr,.seen,figure,pre{break-inside:avoid}
h2,h3{break-after:avoid}thead{display:table-header-group}}
""".strip()

SCRIPT = """
for (const box of document.querySelectorAll(".filter")) {
  const rows = [...document.querySelectorAll(".list>tbody>tr")];
  box.hidden = false;
  box.firstElementChild.addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}
""".strip()

_SCRIPT_DIGEST = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_SCRIPT_DIGEST}'; base-uri 'none'; "
    "form-action 'none'"
)
"""The content security policy: nothing is requested, and no other script runs."""
