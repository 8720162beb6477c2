"""The templates of hosts (`webstrata.detect.template`), packed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from webstrata.remember import statements
from webstrata.remember.tables import site_templates


def templates_of(connection: Connection, hosts: Sequence[str]) -> dict[str, bytes]:
    """The stored templates of these hosts."""
    found: dict[str, bytes] = {}
    for chunk in statements.chunks(sorted(set(hosts))):
        query = select(site_templates.c.host, site_templates.c.template).where(site_templates.c.host.in_(chunk))
        found.update((host, bytes(template)) for host, template in connection.execute(query))
    return found


def put_templates(connection: Connection, templates: Sequence[tuple[str, bytes]]) -> None:
    """Store templates; of each host the last one given."""
    values = [{"host": host, "template": template} for host, template in sorted(dict(templates).items())]
    statements.put(connection, site_templates, "host", values)
