"""One line for each command, for `webstrata --help` and for completion, which do not import the commands."""

from __future__ import annotations

SUMMARIES = {
    "init": "Create a home folder with settings, database and archive.",
    "watch": "Watch pages: visit them from now on, keep every version.",
    "unwatch": "Stop visiting pages; what is archived is kept.",
    "list": "List the watched pages with their next visits.",
    "tag": "Add tags to pages, or remove them.",
    "crawl": "Visit the pages that are due, once, and exit.",
    "run": "Visit each page when it is due, until stopped.",
    "status": "Show pages, visits, schedule, budget and disk usage.",
    "boost": "Visit the pages with a tag more often for some time.",
    "interval": "Set how often, or at what times, pages are visited.",
    "snooze": "Do not visit pages until a given time.",
    "log": "Show the visits of a page, newest first.",
    "diff": "Show the differences between two versions of a page.",
    "rules": "Show or set what of a page is compared.",
    "preview": "Show the content of a page that would be compared.",
    "noise": "Show the places of a page that were learned as noise.",
    "fingerprint": "Show the fingerprint of a file: its digests.",
    "compare": "Compare two files as two versions of a page.",
    "estimate": "Estimate how often pages change, from a file of visits.",
    "cat": "Print an archived version of a page.",
    "why": "Explain the time of a page's next visit.",
    "settings": "Show every setting with its value and its source.",
    "check": "Verify the archive, its index and the database.",
    "reindex": "Make the index again from the WARC files.",
    "rebuild": "Make the database and the index again from the WARC files.",
    "export": "Write captures to a WACZ, WARC or CDXJ file.",
    "capture": "Capture whole sites as of one instant, with certificates.",
    "certificate": "Show and verify the certificates of captures.",
    "coherence": "Show which pages provably existed at one instant.",
    "plan": "Estimate how long the due visits take.",
    "demo": "Crawl two recorded years of real sites in about a minute.",
    "lab": "Repeat the published measurements on this machine.",
}
"""Command -> what it does, in at most 60 characters."""
