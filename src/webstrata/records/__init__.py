"""Rows that travel between the stages: frozen, keyword-only, data without behaviour.

Instants are floats, seconds since 1970-01-01 UTC (`at`, `..._at`); spans end in `_s`. A record is made once and
never changed: the next stage makes its own (`msgspec.structs.replace`).
"""

from webstrata.records.archived import Capture, KeptRecord, Original, Position, ResourceCapture
from webstrata.records.changes import Change, ChangeKind, Outcome
from webstrata.records.counts import Census, HostDay
from webstrata.records.exchange import Exchange, Failure, FailureKind, Followed, Posted, Resource, Validators
from webstrata.records.pages import NewPage, Page, PageRole, PageState, Site
from webstrata.records.politeness import AddressState, HostState, NeedRobots, Permit, Refusal, RobotsState, Wait
from webstrata.records.schedule import Boost, Due, Limit, Outline, PaceState, Upcoming
from webstrata.records.seeing import Fingerprint, Looking, Observation, Sighting, StaticFeatures
from webstrata.records.signals import Announced, Announcement, Checked, Listing, Signal, SignalKind, Source
from webstrata.records.visits import Batch, Entry, Hop, Visit, Visited

__all__ = [
    "AddressState",
    "Announced",
    "Announcement",
    "Batch",
    "Boost",
    "Capture",
    "Census",
    "Change",
    "ChangeKind",
    "Checked",
    "Due",
    "Entry",
    "Exchange",
    "Failure",
    "FailureKind",
    "Fingerprint",
    "Followed",
    "Hop",
    "HostDay",
    "HostState",
    "KeptRecord",
    "Limit",
    "Listing",
    "Looking",
    "NeedRobots",
    "NewPage",
    "Observation",
    "Original",
    "Outcome",
    "Outline",
    "PaceState",
    "Page",
    "PageRole",
    "PageState",
    "Permit",
    "Position",
    "Posted",
    "Refusal",
    "Resource",
    "ResourceCapture",
    "RobotsState",
    "Sighting",
    "Signal",
    "SignalKind",
    "Site",
    "Source",
    "StaticFeatures",
    "Upcoming",
    "Validators",
    "Visit",
    "Visited",
    "Wait",
]
