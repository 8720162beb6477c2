"""Ports: Protocols for what the outside world provides. Adapters implement them, `node` wires them, flows use them."""

from webstrata.ports.archive import Archive, Evidence, StoredCapture
from webstrata.ports.archive_server import AnswerCheck, AnswerStore, ArchiveServer
from webstrata.ports.budgets import BudgetStore, ReservationPlan
from webstrata.ports.clock import Clock
from webstrata.ports.copies import ArchiveCopies
from webstrata.ports.copy_source import CopySource
from webstrata.ports.hosts import HostStore
from webstrata.ports.journal import Journal
from webstrata.ports.keys import KeyFiles
from webstrata.ports.maintenance import StoreMaintenance
from webstrata.ports.page_facts import PageFacts
from webstrata.ports.pages import WatchedPages
from webstrata.ports.queue import VisitQueue
from webstrata.ports.signals import SignalStore
from webstrata.ports.store import Store
from webstrata.ports.visit_log import VisitLog
from webstrata.ports.web import BeforeSend, Handler, VisitClient, Web

__all__ = [
    "AnswerCheck",
    "AnswerStore",
    "Archive",
    "ArchiveCopies",
    "ArchiveServer",
    "BeforeSend",
    "BudgetStore",
    "Clock",
    "CopySource",
    "Evidence",
    "Handler",
    "HostStore",
    "Journal",
    "KeyFiles",
    "PageFacts",
    "ReservationPlan",
    "SignalStore",
    "Store",
    "StoreMaintenance",
    "StoredCapture",
    "VisitClient",
    "VisitLog",
    "VisitQueue",
    "WatchedPages",
    "Web",
]
