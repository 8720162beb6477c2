"""The schedule under a value policy: all pages are in memory, and the most valuable are visited as the budget allows.

The price of a visit is the value of the last page that the budget paid for, smoothed over a few days. The next visit
that users see is the time at which the page's value will pass the price that is forecast (`crossing`).
`flows.crawl.selection.schedule_input` reads the pages from the store.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webstrata.clock import DAY_S, span
from webstrata.columns import Column, Days, Flags, Rows, pack
from webstrata.predict.prior import ANY_PAGE
from webstrata.predict.start_belief import FirstSight
from webstrata.records import Page, PageRole
from webstrata.schedule.allocator import choose
from webstrata.schedule.byte_cost import HEAD_BYTES
from webstrata.schedule.crossing import PriceForecast, crossing_days
from webstrata.schedule.next_visit import NextVisit, SeenPage, past_unchanged, retry
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.page_table import PageTable, packed_events
from webstrata.schedule.past_copies import PastPages, learn_sightings
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.source_choice import choose_sources, discovery_worth, moved_price, source_worth

_NEVER_SEEN = "never seen yet: visited at once, as far as the budget goes"
_WITH_ITS_PAGE = "visited with the page that it belongs to"
_NOT_WATCHED = "not watched, so it is not visited"
_NEVER_VISITED = "never visited yet: visited at once, as far as the budget goes; known from copies in archives"


class ValueSchedule:
    """Schedules all pages by one value policy."""

    weighs_announcements = True
    """The policy weighs what feeds and sitemaps announce; an announcement alone makes no page due."""

    def __init__(self, policy: ValuePolicy) -> None:
        self.policy = policy
        self.price = policy.first_price
        """The value of the last page that the budget paid for, smoothed."""
        self.counts_bytes = False
        """The total budget is in bytes: pages are ranked by the value of a visit for its cost."""
        self.importance = 0.0
        """How much the importance of pages counts as their weight."""
        self.price_forecast = PriceForecast()
        self.overrides = Overrides()
        self.page_table = PageTable(policy)
        self.first_sight: FirstSight | None = None
        """What is expected of a page from its first content."""
        self.has_new_announcements = True
        self.has_new_checks = True
        self._limits = IntervalLimits(policy.bounds.min_days * DAY_S, policy.bounds.max_days * DAY_S)
        self._values: Column = np.empty(0, dtype=np.float32)
        self._is_overdue: Flags = np.empty(0, dtype=bool)

    @property
    def ranking(self) -> ValueSchedule:
        return self

    @property
    def first_price(self) -> float:
        return self.policy.first_price

    def announced(self) -> None:
        self.has_new_announcements = True

    def checked(self) -> None:
        self.has_new_checks = True

    def unchanged(self, pages: Sequence[Page], until: Sequence[float], now: float) -> list[float]:
        self._add(pages)
        rows = self.page_table.rows(page.id for page in pages)
        if not self.policy.has_forecast:
            return past_unchanged(pages, until)
        days = np.array(until) / DAY_S
        return [float(chance) for chance in self.page_table.policy_state.unchanged(rows, days, now / DAY_S)]

    def clear(self) -> None:
        """Remove all pages from memory, for example because memory may be ahead of the store."""
        self.page_table = PageTable(self.policy)

    def apply_overrides(self, overrides: Overrides, limited: dict[int, str], now: float) -> None:
        """Use these overrides; `limited` maps ids of pages with their own limits to their URLs."""
        self.overrides = overrides
        self.page_table.apply_overrides(overrides, self._limits, limited, now)

    # ── choosing ────────────────────────────────────────────────────────────────────────────────────────────

    def sources_to_read(self, now: float, count: int, visits_per_day: float, price: float | None = None) -> Rows:
        """The rows of the lists that are read now, best first, if the budget pays for `count` visits now and for
        `visits_per_day`, each at this price (default: the present one)."""
        price = self.price if price is None else price
        pages, days = self.page_table, now / DAY_S
        table, rows = pages.policy_state.lists, pages.source_rows
        if table is None or not len(rows) or not self.policy.has_forecast:
            return np.empty(0, dtype=np.intp)
        values, chances = pages.policy_state.values_and_chances(days)
        weights = (pages.weight * pages.factor).astype(np.float32)
        values, known = values / np.maximum(pages.weight, 1e-9), rows >= 0
        worth = source_worth(table, values, chances, weights, price)
        worth = worth._replace(proven=np.maximum(worth.proven, discovery_worth(table, days)))
        age = np.where(known, pages.policy_state.age(days)[rows], 0.0)
        # A list that only announces changes is read if it is worth it, unless the user limits its interval.
        limited = table.finds_pages | (pages.max_days[rows] < self.policy.bounds.max_days)
        chosen = choose_sources(
            table,
            values,
            worth,
            count,
            price,
            now=days,
            visits_per_day=visits_per_day,
            ready=known & pages.ready[rows] & (age >= pages.min_days[rows]) & (pages.allowed_at[rows] <= now),
            overdue=limited & (age >= pages.max_days[rows]),
        )
        return rows[chosen]

    def ranked(self, now: float, count: int) -> Rows:
        """The rows of the most valuable pages now, best first."""
        pages = self.page_table
        if not len(pages):
            return np.empty(0, dtype=np.intp)
        age = pages.policy_state.age(now / DAY_S)
        self._values = (pages.policy_state.values(now / DAY_S) * pages.factor).astype(np.float32, copy=False)
        if self.counts_bytes:
            self._values = pages.byte_costs().per_byte(self._values, (pages.weight * pages.factor).astype(np.float32))
        self._is_overdue = age >= pages.max_days
        eligible = pages.ready & ~pages.is_list & (pages.allowed_at <= now)
        return choose(self._values, age, count, pages, eligible=eligible)

    def expected_bytes(self, rows: Rows, now: float) -> Days:
        """The expected size of visits of these pages now, as a budget in bytes counts it."""
        pages, days = self.page_table, now / DAY_S
        changed = np.ones(len(rows), dtype=np.float64)
        if self.policy.has_forecast:
            changed -= pages.policy_state.unchanged(rows, np.full(len(rows), days), days)
        expected: Days = np.maximum(pages.byte_costs(rows).expected(changed) - HEAD_BYTES, 0.0).astype(np.float64)
        return expected

    def chosen(self, rows: Rows, used_up: bool, share: float) -> None:
        """These pages were chosen from the last ranking. `used_up`: the budget did not pay for more; `share`: of a
        day's budget that they cost."""
        values = self._values[rows][~self._is_overdue[rows]]
        if len(values):
            self.price = moved_price(self.price, float(values.min()) if used_up else 0.0, share)

    def crossing(self, rows: Rows, now: float) -> Days:
        """The time of each page's next visit at present: its value passes the threshold, within its limits."""
        pages, days = self.page_table, now / DAY_S
        # The price of a budget in bytes is not forecast: it is the smoothed one.
        price = None if self.counts_bytes else self.price_forecast.prices(pages, days)
        age = self.policy.age(pages.policy_state.state, rows, days)
        wait = crossing_days(
            pages.policy_state,
            rows,
            days,
            self.price if price is None else price,
            self._scale(rows),
            pages.min_days[rows] - age,
        )
        lists = np.flatnonzero(pages.is_list[rows])
        if len(lists):  # a list is read for what it reveals of other pages, so far about so often
            wait[lists] = pages.read_interval_days(rows[lists]) - age[lists]
        wait = np.clip(age + wait, pages.min_days[rows], pages.max_days[rows]) - age
        return now + DAY_S * np.maximum(wait, 0.0)

    def _scale(self, rows: Rows) -> Column:
        """By what the values of these pages are multiplied before they are compared with the price."""
        factor = self.page_table.factor[rows]
        if not self.counts_bytes:
            return factor
        weights = np.maximum(self.page_table.weight[rows], 1e-9)
        needed = self.page_table.byte_costs(rows).needed_worth(self.price, weights * factor)
        scale: Column = self.price / np.maximum(needed * weights, 1e-30)
        return scale

    # ── what archives know ──────────────────────────────────────────────────────────────────────────────────

    @property
    def uses_features(self) -> bool:
        return self.first_sight is not None

    def learn_past(self, past: PastPages, now: float) -> tuple[list[bytes], list[tuple[str, bytes]]]:
        hosts, site = np.unique(np.array(past.hosts), return_inverse=True)
        table = PolicyState(self.policy, site.astype(np.intp), now=now / DAY_S, has_events=past.has_events)
        if self.first_sight is not None and past.features is not None:
            self.policy.expect(table.state, table.rows, self.first_sight(past.features))
        learn_sightings(table, past.sightings)
        events = [] if table.site_state is None else [packed_events(row) for row in table.site_state]
        return pack(table.state), list(zip(hosts.tolist(), events, strict=False))

    def is_learned(self, page: Page) -> bool:
        has_state = page.policy == self.policy.name and len(page.policy_state) == self.policy.dtype.itemsize
        return page.last_seen_at is None and has_state

    # ── after visits ────────────────────────────────────────────────────────────────────────────────────────

    def after_seen(self, batch: Sequence[SeenPage]) -> list[NextVisit]:
        """Let the policy learn from the visits, then predict the next visit of each page."""
        if not batch:
            return []
        pages = self.page_table
        self._add([seen.page for seen in batch])
        rows = pages.rows(seen.page.id for seen in batch)
        known = self._learn(batch, rows)
        sizes = np.array([np.nan if seen.full_bytes is None else seen.full_bytes for seen in batch], dtype=np.float32)
        pages.downloaded(rows, sizes, np.array([seen.answers_304 for seen in batch], dtype=bool))
        latest = max(seen.at for seen in batch)
        self.price_forecast.visited(int(known.sum()))
        next_at = np.maximum(self.crossing(rows, latest), latest)
        return [
            self._next_visit(seen.at, float(then), pages.policy_state.state[row].tobytes())
            for seen, row, then in zip(batch, rows.tolist(), next_at, strict=True)
        ]

    def _learn(self, batch: Sequence[SeenPage], rows: Rows) -> Flags:
        """Learn from these visits; which of them are not the first of their page."""
        pages = self.page_table
        at = np.array([seen.at / DAY_S for seen in batch])
        known = np.array([seen.page.last_seen_at is not None for seen in batch])
        learned = np.array([self.is_learned(seen.page) for seen in batch])
        compared = known | (learned & np.array([seen.copy_changed is not None for seen in batch]))
        changed = np.array([seen.changed if seen.copy_changed is None else seen.copy_changed for seen in batch])
        if compared.any():
            pages.learn(rows[compared], at[compared], changed[compared])
        if (left := learned & ~compared).any():
            pages.copied(rows[left], at[left])
        if (new := ~(known | learned)).any():
            features = [seen.features for seen, is_new in zip(batch, new.tolist(), strict=True) if is_new]
            pages.start(rows[new], at[new], None if self.first_sight is None else self.first_sight(features))
        return known

    def after_failure(self, page: Page, at: float, why: str, again_at: float | None = None) -> NextVisit:
        """The page is retried, and is not chosen by its value before a visit succeeds."""
        self._add([page])
        row = int(self.page_table.rows([page.id])[0])
        self.page_table.ready[row] = False
        interval_s = page.interval_s or self.policy.bounds.start_days * DAY_S
        has_state = page.last_seen_at is not None or self.is_learned(page)
        state = self.page_table.policy_state.state[row].tobytes() if has_state else b""
        return retry(page, at, why, again_at, interval_s=interval_s, policy=self.policy.name, policy_state=state)

    def _add(self, pages: Sequence[Page]) -> None:
        """Add visited pages that are not in memory yet."""
        rows = self.page_table.rows(page.id for page in pages)
        unknown = [page for page, row in zip(pages, rows.tolist(), strict=True) if row < 0]
        if not unknown:
            return
        size = self.policy.dtype.itemsize
        states = [page.policy_state if len(page.policy_state) == size else None for page in unknown]
        now = max((page.last_seen_at or 0.0) for page in unknown)
        self.page_table.add(unknown, states, now / DAY_S)
        self.apply_overrides(self.overrides, {}, 0.0)

    def _next_visit(self, at: float, next_at: float, state: bytes) -> NextVisit:
        wait_s = max(next_at - at, 1e-3)
        return NextVisit(
            next_at=at + wait_s,
            interval_s=wait_s,
            policy=self.policy.name,
            policy_state=state,
            reason=f"{self.policy.name}: worth a visit after {span(wait_s)}, at the price of {self.price:.2g} that "
            "the budget sets",
        )

    # ── explanations ────────────────────────────────────────────────────────────────────────────────────────

    def evidence(self, page: Page, now: float) -> dict[str, object]:
        """Rate, age, probability of a change, hints, value, weight, boost and price of a page."""
        pages = self.page_table
        row = int(pages.rows([page.id])[0])
        if row < 0:
            return {"rule": _WITH_ITS_PAGE if page.role is PageRole.REQUISITE else _NOT_WATCHED}
        price: dict[str, object] = {"price": round(self.price, 6)}
        if page.last_seen_at is None and not self.is_learned(page):
            return {**price, "rule": _NEVER_SEEN}
        days, rows = now / DAY_S, np.array([row], dtype=np.intp)
        state = pages.policy_state
        evidence = self.policy.explain(state.state, row, days, state.signals(rows, days))
        factor = float(pages.factor[row])
        value = _number(evidence.get("value")) * float(pages.weight[row]) * factor
        return {
            **{name: fact for name, fact in evidence.items() if name != "hints"},
            **_first_hint(evidence.get("hints"), None if state.lists is None else state.lists.source_of(row)),
            "value": round(value, 6),
            **price,
            **({"rule": _NEVER_VISITED} if page.last_seen_at is None else {}),
            **(self._bytes_evidence(rows, now) if self.counts_bytes else {}),
            "weight": float(pages.weight[row]),
            "boost": factor,
            "worth_it_at": float(self.crossing(rows, now)[0]),
            "min_interval_s": float(pages.min_days[row]) * DAY_S,
            "max_interval_s": float(pages.max_days[row]) * DAY_S,
        }

    def _bytes_evidence(self, rows: Rows, now: float) -> dict[str, object]:
        """What the page costs, and its value for that, which is compared with the price."""
        pages = self.page_table
        values = (pages.policy_state.values(now / DAY_S) * pages.factor)[rows].astype(np.float32)
        weights = (pages.weight * pages.factor)[rows].astype(np.float32)
        size = float(pages.size[rows[0]])
        return {
            "full_bytes": int(size) if np.isfinite(size) else None,
            "answers_304": bool(pages.answers_304[rows[0]]),
            "value_for_cost": round(float(pages.byte_costs(rows).per_byte(values, weights)[0]), 6),
        }

    def expected_rates(self, now: float) -> tuple[Days, Days]:
        """(changes per day that the policy expects, weight) of each page that may be chosen."""
        pages, days = self.page_table, now / DAY_S
        state, rows = pages.policy_state, np.flatnonzero(pages.ready)
        weights = pages.weight[rows] * pages.factor[rows]
        if self.policy.has_forecast:
            age = self.policy.age(state.state, rows, days)
            rates = self.policy.forecast(state.state, rows, age).rate_at(age).astype(np.float64)
            next_day = state.signals(rows, days).quiet_next_day
            return rates if next_day is None else rates - np.log(next_day), weights
        every = (self.policy.explain(state.state, int(row), days).get("rate_per_day") for row in rows)
        default = ANY_PAGE.shape / ANY_PAGE.days
        return np.array([rate if isinstance(rate, float) else default for rate in every]), weights


def _first_hint(hints: object, source: str | None) -> dict[str, object]:
    """The hint of the source that counts, as flat names."""
    if source is None or not isinstance(hints, list) or not hints:
        return {"hint_from": None}
    return {"hint_from": source, **{f"hint_{name}": value for name, value in hints[0].items()}}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
