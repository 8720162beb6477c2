"""What discovery left out of watched sites, for `webstrata status`: by which source, how much and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webstrata.cli.output import counted, printable
from webstrata.flows.crawl.site_bounds import reason
from webstrata.records import Site, SiteFind

SHOWN = 5
"""Sources that are shown; `--json` has all."""


def left_out_json(finds: Sequence[SiteFind], sites: Sequence[Site]) -> list[dict[str, Any]]:
    """The sources with links that were not added at their last visit, largest first."""
    by_id = {site.id: site for site in sites}
    known = [(find, by_id[find.site_id]) for find in finds if find.site_id in by_id]
    return [
        {
            "site": site.url,
            "source": find.name,
            "found": find.found,
            "left_out": find.left_out,
            "bound": find.why,
            "why": reason(site, find.why),
        }
        for find, site in sorted(known, key=lambda pair: (-pair[0].left_out, pair[0].name))
    ]


def left_out_lines(left_out: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"{counted(one['left_out'], 'link')} of {printable(one['source'])}: {one['why']}" for one in left_out[:SHOWN]
    ]
    if len(left_out) > SHOWN:
        lines.append(f"and links of {counted(len(left_out) - SHOWN, 'more source')}")
    return lines
