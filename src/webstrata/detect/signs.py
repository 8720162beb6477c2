"""What pages say that stand in the place of the page: phrases as regular expressions, one to a line.

`CERTAIN` are said by no page of itself. `DOUBTFUL` a page may say of itself, but hardly overnight.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from webstrata.records import FailureKind


class ErrorPhrase(NamedTuple):
    kind: FailureKind
    where: Literal["title", "text"]
    pattern: re.Pattern[str]


def _sign(kind: FailureKind, where: Literal["title", "text"], *phrases: str) -> ErrorPhrase:
    return ErrorPhrase(kind, where, re.compile("|".join(phrases), re.IGNORECASE))


CERTAIN = (
    _sign(
        FailureKind.BLOCK_PAGE,
        "title",
        r"^just a moment\W*$",
        r"^attention required! \| cloudflare$",
        r"^ddos-guard$",
        r"^are you (a )?(robot|human)\W*$",
        r"^(robot check|(human|bot) verification|captcha( challenge)?)$",
        r"^security check( required)?$",
        r"^access to this page has been denied\.?$",
    ),
    _sign(
        FailureKind.BLOCK_PAGE,
        "text",
        r"enable javascript and cookies to continue",
        r"checking (if the site connection is secure|your browser before)",
        r"(verify|confirm|prove)( that)? you are (a )?(human|not a (robot|bot))",
        r"press (&|and) hold to confirm you are",
        r"incapsula incident id",
        r"unusual traffic from your computer network",
        r"cloudflare ray id\W",
        r"you don't have permission to access .{1,300}reference #[0-9a-f.]+",
        r"(your (ip|ip address|request|access)|you) (has|have) been (temporarily )?blocked",
    ),
)

DOUBTFUL = (
    _sign(
        FailureKind.SOFT_404,
        "title",
        r"^(error )?(404|410)\b",
        r"\b(404|410)( error)?$",
        r"^not found\b",
        r"\b(page|file|document|site) (was )?not found\b",
        r"\bpage (does ?n['o]t exist|missing|unavailable)",
        r"seite (wurde )?nicht gefunden",
        r"page (introuvable|non trouvée)",
    ),
    _sign(
        FailureKind.SOFT_404,
        "text",
        r"the (requested )?(page|url|document)( you (requested|are looking for))? (was not|cannot be) found",
        r"(the|this) page (you (are|were) looking for )?(does ?n[o']t|no longer) exists?",
    ),
    _sign(
        FailureKind.BLOCK_PAGE,
        "title",
        r"^access denied\W*$",
        r"^(error )?403\b",
        r"^forbidden\W*$",
        r"^request (blocked|rejected)\W*$",
    ),
    _sign(
        FailureKind.PLACEHOLDER,
        "title",
        r"\b(under|scheduled) maintenance\b",
        r"^maintenance( mode)?$",
        r"^(we'll )?be right back",
        r"\btemporarily unavailable\b",
        r"\bcoming soon$",
        r"^(error )?50[0234]\b",
        r"^(internal server error|bad gateway|service unavailable|gateway time-?out)",
        r"^(welcome to nginx!|apache2? .{0,20}default page|test page for )",
        r"\bdomain (is )?(parked|for sale)",
    ),
    _sign(
        FailureKind.PLACEHOLDER,
        "text",
        r"(down|closed|offline) for (scheduled |planned )?maintenance",
        r"error establishing a database connection",
    ),
    _sign(
        FailureKind.LOGIN_WALL,
        "title",
        r"^(log ?in|sign ?in|anmelden|einloggen|se connecter|authentication required)\b",
        r"\b(log ?in|sign ?in)$",
    ),
    _sign(
        FailureKind.LOGIN_WALL,
        "text",
        r"(you (must|need to)|please) (be )?(logged|log|signed|sign) ?in to (view|see|access|continue|read)",
    ),
)
