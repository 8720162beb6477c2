"""All hostile behaviours, by group."""

from __future__ import annotations

from tests.attacks.behaviours.bombs import BOMBS
from tests.attacks.behaviours.connections import CONNECTIONS
from tests.attacks.behaviours.content import CONTENT
from tests.attacks.behaviours.data import DATA
from tests.attacks.behaviours.documents import DOCUMENTS
from tests.attacks.behaviours.endless import ENDLESS
from tests.attacks.behaviours.framing import FRAMING
from tests.attacks.behaviours.headers import HEADERS
from tests.attacks.behaviours.redirects import REDIRECTS
from tests.attacks.behaviours.robots import ROBOTS
from tests.attacks.behaviours.slow import SLOW
from tests.attacks.behaviours.tls import TLS

GROUPS = {
    "slow": SLOW,
    "endless": ENDLESS,
    "framing": FRAMING,
    "connections": CONNECTIONS,
    "tls": TLS,
    "headers": HEADERS,
    "redirects": REDIRECTS,
    "robots": ROBOTS,
    "content": CONTENT,
    "bombs": BOMBS,
    "data": DATA,
    "documents": DOCUMENTS,
}

BEHAVIOURS = tuple(behaviour for group in GROUPS.values() for behaviour in group)
