"""Examples at the end of the help of each command. A test parses every one of them."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": (
        "webstrata init --contact crawler@example.org",
        "webstrata --home /srv/archive init",
        "webstrata init --store postgresql+psycopg://webstrata@/webstrata",
    ),
    "watch": (
        "webstrata watch https://example.org/news --tag news --ignore css:.clock",
        "webstrata watch --site https://example.org/docs/ --max-pages 500",
        "webstrata watch --from urls.txt --every 6h",
    ),
    "unwatch": ("webstrata unwatch https://example.org/news",),
    "list": ("webstrata list --tag news", "webstrata list --changed --since 7d", "webstrata list --errors"),
    "tag": ("webstrata tag https://example.org/ --add news", "webstrata tag --remove news"),
    "crawl": ("webstrata crawl", "webstrata crawl https://example.org/news --due"),
    "run": ("webstrata run", "webstrata run --for 6h --set polite.delay=10s"),
    "status": ("webstrata status", "webstrata status --json"),
    "boost": ("webstrata boost election --factor 5 --for 2d", "webstrata boost election --end"),
    "interval": (
        "webstrata interval https://example.org/ --min 1h --max 1d",
        'webstrata interval --tag news --at "Mon-Fri 9-17 Europe/Vienna"',
    ),
    "snooze": ("webstrata snooze https://example.org/ --for 2w", "webstrata snooze --tag news --until 2027-01-07"),
    "importance": ("webstrata importance --top 50", "webstrata importance --host example.org --json"),
    "changes": (
        "webstrata changes --since 7d --tag news --min-significance 0.3",
        "webstrata changes --format atom --out changes.xml",
    ),
    "log": ("webstrata log https://example.org/ --changes --from 2026-11-01", "webstrata log --errors --limit 20"),
    "diff": (
        "webstrata diff https://example.org/",
        "webstrata diff https://example.org/ --since 30d --html -o changes.html",
    ),
    "rules": (
        "webstrata rules https://example.org/ --ignore css:.ads --ignore-text 'page views: [0-9]+'",
        "webstrata rules --tag shop --layer data",
    ),
    "preview": ("webstrata preview https://example.org/ --ignore css:.ads",),
    "noise": ("webstrata noise https://example.org/", "webstrata noise https://example.org/ --count 3"),
    "fingerprint": ("webstrata fingerprint page.html --url https://example.org/",),
    "compare": ("webstrata compare old.html new.html --ignore css:footer",),
    "estimate": ("webstrata estimate visits.csv --estimator poisson", "webstrata estimate --store --tag news"),
    "cat": (
        "webstrata cat https://example.org/ --at 2026-11-01 > page.html",
        "webstrata cat https://example.org/ --headers",
    ),
    "why": ("webstrata why https://example.org/",),
    "forecast": (
        "webstrata forecast https://example.org/ --plot forecast.svg",
        "webstrata forecast --all --within 30d --update links --json",
    ),
    "select": (
        "webstrata select --within 7d --top 100",
        "webstrata select --threshold 0.5 --update links --format heritrix --out seeds.txt",
        "webstrata select --tune",
    ),
    "settings": ("webstrata settings", "webstrata settings --set budget.total=500/day"),
    "check": ("webstrata check --deep", "webstrata check --repair"),
    "reindex": ("webstrata reindex",),
    "rebuild": ("webstrata rebuild --replace",),
    "import cdx": (
        "webstrata import cdx archive.cdx.gz --archive archive.example.org",
        "webstrata import cdx *.cdxj --only 'https://example.org/docs/*' --dry-run",
    ),
    "import warc": ("webstrata import warc crawl.warc.gz site.wacz", "webstrata import warc /srv/warcs --watched"),
    "import parquet": ("webstrata import parquet webpages.parquet --url 'https://example.org/{page}'",),
    "import gaps": ("webstrata import gaps observations.tsv --until 2026-11-01",),
    "import wayback": (
        "webstrata import wayback https://example.org/",
        "webstrata import wayback 'example.org/*' --depth 2 --from 2024",
        "webstrata import wayback https://example.org/ --server http://localhost:8080/collection/cdx --per-minute 600",
    ),
    "import timemap": (
        "webstrata import timemap https://example.org/ --server https://web.archive.org/web/timemap/link/",
        "webstrata import timemap saved.link --dry-run",
    ),
    "import list": ("webstrata import list --json",),
    "export wacz": ("webstrata export wacz site.wacz --url https://example.org/ --match host",),
    "export warc": ("webstrata export warc november.warc.gz --from 2026-11-01 --to 2026-11-30",),
    "export cdxj": ("webstrata export cdxj all.cdxj",),
    "export visits": ("webstrata export visits visits.parquet --since 30d --tag news",),
    "export changes": ("webstrata export changes changes.csv",),
    "export forecasts": ("webstrata export forecasts forecasts.parquet",),
    "capture": (
        "webstrata capture https://example.org/docs/ --sharp --report docs.html",
        "webstrata capture --seeds pages.txt --delay 5s --max-time 90m --out site.wacz",
    ),
    "certificate show": ("webstrata certificate show site.wacz",),
    "certificate verify": ("webstrata certificate verify site.wacz --trust keys.json",),
    "certificate report": ("webstrata certificate report site.wacz --out site.html",),
    "certificate verifier": ("webstrata certificate verifier > verify_capture.py",),
    "certificate keys": ("webstrata certificate keys",),
    "certificate keys make": ("webstrata certificate keys make archive-2027",),
    "certificate keys show": ("webstrata certificate keys show --trust > keys.json",),
    "certificate keys rotate": ("webstrata certificate keys rotate archive-2027",),
    "certificate keys revoke": ('webstrata certificate keys revoke archive-2026 --reason "disk was stolen"',),
    "certificate log": ("webstrata certificate log",),
    "certificate log verify": ("webstrata certificate log verify captures/",),
    "coherence": (
        "webstrata coherence crawl.warc.gz --at 2026-11-15T08:30:00Z",
        "webstrata coherence --store example.org",
    ),
    "plan": ("webstrata plan --within 1d", "webstrata plan --urls urls.txt --threads 50", "webstrata plan --capacity"),
    "train": ("webstrata train --plot model.svg", "webstrata train --show https://example.org/news"),
    "demo": ("webstrata demo --days 90",),
    "lab cold-start": ("webstrata lab cold-start", "webstrata lab cold-start --schedule --plot pictures"),
    "lab crawl-time": ("webstrata lab crawl-time --crawls 20 --out results",),
    "lab groups": ("webstrata lab groups --k 4 --plot groups.svg",),
    "lab hacs": ("webstrata lab hacs --w 1,4,12 --plot figures", "webstrata lab hacs --recorded --e 2w --json"),
    "lab live": ("webstrata lab live --days 90 --pages 50",),
    "lab policies": ("webstrata lab policies --policies value,dyn --years 1 --budget 4/page/day",),
    "lab sharp": ("webstrata lab sharp --lengths 1,1,9,9 --algorithm optimal",),
}
"""Command -> commands to type."""


def epilog(command: str) -> str | None:
    """The examples of a command as the last paragraph of its help, with its lines kept as they are."""
    examples = EXAMPLES.get(command)
    return (
        "\n".join(("\b", "Examples:" if len(examples) > 1 else "Example:", *(f"  {one}" for one in examples)))
        if examples
        else None
    )
