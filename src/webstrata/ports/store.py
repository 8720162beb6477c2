"""The store port: facts at rest, one attribute for each role."""

from __future__ import annotations

from typing import Protocol

from webstrata.ports.budgets import BudgetStore
from webstrata.ports.copies import ArchiveCopies
from webstrata.ports.hosts import HostStore
from webstrata.ports.maintenance import StoreMaintenance
from webstrata.ports.page_facts import PageFacts
from webstrata.ports.pages import WatchedPages
from webstrata.ports.queue import VisitQueue
from webstrata.ports.signals import SignalStore
from webstrata.ports.visit_log import VisitLog


class Store(Protocol):
    """The database. Every method of a role is one short transaction; all are safe to call from one event loop.

    `webstrata.testing.store` holds a contract for each role.
    """

    @property
    def pages(self) -> WatchedPages: ...
    @property
    def queue(self) -> VisitQueue: ...
    @property
    def hosts(self) -> HostStore: ...
    @property
    def visit_log(self) -> VisitLog: ...
    @property
    def budgets(self) -> BudgetStore: ...
    @property
    def signals(self) -> SignalStore: ...
    @property
    def copies(self) -> ArchiveCopies: ...
    @property
    def facts(self) -> PageFacts: ...
    @property
    def maintenance(self) -> StoreMaintenance: ...

    async def close(self) -> None: ...
