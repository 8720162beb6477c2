"""Addresses in scripts: imports in all notations, and scripts made to be slow."""

from __future__ import annotations

import pytest

from webstrata.observe.requisites.scripts import script_addresses


@pytest.mark.parametrize(
    ("script", "addresses"),
    [
        ('import "./a.js"', ["./a.js"]),
        ("import x from '../a.js';", ["../a.js"]),
        ('import * as x from "/a.js"', ["/a.js"]),
        (
            'import d, { a as b,\n c } from "./a.js";export{x}from"./b.js";export*from"./c.js"',
            ["./a.js", "./b.js", "./c.js"],
        ),
        ('import data from "./d.json" with { type: "json" }', ["./d.json"]),
        ('const x = await import("./a.js"); import ( `./b.js` ).then()', ["./a.js", "./b.js"]),
        ('import(/* webpackChunkName: "c" */ "./a.js")', ["./a.js"]),
        ('import("https://b.test/m.js")', ["https://b.test/m.js"]),
        ('new Worker(new URL("w.js", import.meta.url)); new URL("no.js", location)', ["w.js"]),
        ('importScripts("w2.js")', ["w2.js"]),
        (r'import "./\x61\u0062\u{63}\/d.js"', ["./abc/d.js"]),
        # names of an import map, computed names, and other functions
        ('import "lit"; import("react"); import(name); import("./" + name + ".js")', []),
        ('Array.from("/x"); x.import("/y"); $import("/z"); import.meta.url', []),
        # comments, strings, templates and regular expressions
        ('// import "./no.js"\n/* import("./no.js") */ import "./a.js" /* import "./no.js"', ["./a.js"]),
        ('s = "import \'./no.js\'"; t = `import "./no.js" \\` `; import "./a.js"', ["./a.js"]),
        ("""x = /"/.test(y), z = s.replace(/['"]/g, ""); import("./a.js")""", ["./a.js"]),
        ("""function f() { return /[/"]'/ } import("./a.js")""", ["./a.js"]),
        ('a = b / c; d = "/"; import("./a.js")', ["./a.js"]),
        ("it's not closed\nimport './a.js'", ["./a.js"]),
    ],
)
def test_addresses(script: str, addresses: list[str]) -> None:
    """Relative and absolute addresses of imports are found; names, comments and strings are not."""
    assert list(script_addresses(script)) == addresses


@pytest.mark.parametrize(
    "script",
    [
        "/*" * 400_000,
        "(/[" * 300_000,
        "(/" + "[" * 500_000,
        '"' * 300_001,
        "`" + "\\`" * 300_000,
        'from"' * 200_000,
        "from " * 200_000,
        "import(" * 200_000,
        "import(/*" * 100_000,
        'new URL("' * 100_000,
        "import" + " " * 500_000,
        "= " * 300_000,
        "return\t" * 100_000,
        "\\" * 500_000,
    ],
    ids=lambda script: script[:9],
)
def test_hostile_scripts(script: str) -> None:
    """Scripts made to be slow are read in ordinary time and have no addresses."""
    assert not any(script_addresses(script))
