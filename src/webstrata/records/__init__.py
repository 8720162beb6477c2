"""The records that the stages exchange: frozen structs with keyword-only fields and no behaviour.

Instants are floats, in seconds since 1970-01-01 UTC (`at`, `..._at`); durations are in seconds and end in `_s`. A
record is never changed: the next stage creates a new one (`msgspec.structs.replace`).
"""

from webstrata.records.archived import Capture, KeptRecord, Original, Position, ResourceCapture
from webstrata.records.changes import Change, ChangeKind, Outcome, ValueChange
from webstrata.records.exchange import Exchange, Failure, FailureKind, FetchResult, PostBody, Resource, Validators
from webstrata.records.observing import (
    ATTRIBUTE_KINDS,
    DEFAULT_ATTRIBUTES,
    AttributeKind,
    Fingerprint,
    Observation,
    PageAttribute,
    PageRules,
    Sighting,
)
from webstrata.records.pages import NewPage, Page, PageRole, PageState, Site
from webstrata.records.politeness import AddressState, HostState, NeedRobots, Permit, Refusal, RobotsState, Wait
from webstrata.records.schedule import (
    Boost,
    BudgetState,
    DuePage,
    IntervalLimit,
    PageSummary,
    RoundTiming,
    UpcomingVisit,
    VisitTimes,
)
from webstrata.records.signals import (
    READ_COUNTS,
    VISIT_COUNTS,
    Announcement,
    NewAnnouncements,
    Signal,
    SignalKind,
    SignalSource,
    SourceCheck,
)
from webstrata.records.totals import Contradiction, EngineCheck, HostDayTotals, StoreTotals
from webstrata.records.visits import Batch, FinishedVisit, Hop, Visit, VisitResult

__all__ = [
    "ATTRIBUTE_KINDS",
    "DEFAULT_ATTRIBUTES",
    "READ_COUNTS",
    "VISIT_COUNTS",
    "AddressState",
    "Announcement",
    "AttributeKind",
    "Batch",
    "Boost",
    "BudgetState",
    "Capture",
    "Change",
    "ChangeKind",
    "Contradiction",
    "DuePage",
    "EngineCheck",
    "Exchange",
    "Failure",
    "FailureKind",
    "FetchResult",
    "Fingerprint",
    "FinishedVisit",
    "Hop",
    "HostDayTotals",
    "HostState",
    "IntervalLimit",
    "KeptRecord",
    "NeedRobots",
    "NewAnnouncements",
    "NewPage",
    "Observation",
    "Original",
    "Outcome",
    "Page",
    "PageAttribute",
    "PageRole",
    "PageRules",
    "PageState",
    "PageSummary",
    "Permit",
    "Position",
    "PostBody",
    "Refusal",
    "Resource",
    "ResourceCapture",
    "RobotsState",
    "RoundTiming",
    "Sighting",
    "Signal",
    "SignalKind",
    "SignalSource",
    "Site",
    "SourceCheck",
    "StoreTotals",
    "UpcomingVisit",
    "Validators",
    "ValueChange",
    "Visit",
    "VisitResult",
    "VisitTimes",
    "Wait",
]
