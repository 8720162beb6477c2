"""Pages of a SPARQL dataset that has as many rows as are asked for."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from tests.attacks.caller import Request
from tests.flows.scripted_servers import reply

_OFFSET = re.compile(r"OFFSET\s+(\d+)", re.IGNORECASE)
_ROW = (
    '{{"g":{{"type":"uri","value":"http://g.test/"}},"s":{{"type":"uri","value":"http://s.test/{0:09}"}},'
    '"p":{{"type":"uri","value":"http://p.test/"}},"o":{{"type":"literal","value":"{0}"}}}}'
)


def dataset_page(request: Request, count: int) -> bytes:
    """The response with `count` rows from the offset of the query on."""
    found = _OFFSET.search(unquote_plus(request.path))
    first = int(found.group(1)) if found else 0
    rows = ",".join(_ROW.format(n) for n in range(first, first + count))
    text = f'{{"head":{{"vars":["g","s","p","o"]}},"results":{{"bindings":[{rows}]}}}}'
    return reply(text, kind="application/sparql-results+json").wire
