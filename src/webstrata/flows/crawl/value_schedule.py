"""The schedule under a policy that values visits: pages in memory, the best of them visited as the budget allows.

The next visit that people see is when the page's value will pass the present price.

The evidence behind a page's next visit under a policy that values visits, from what the store keeps of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webstrata.clock import DAY_S, span
from webstrata.columns import Column, Days, Rows
from webstrata.flows.crawl.budget_ledger import ALL, THRESHOLD
from webstrata.ports import Store
from webstrata.records import Page, PageSummary
from webstrata.schedule.allocator import choose
from webstrata.schedule.crossing import crossing_days
from webstrata.schedule.overrides import IntervalLimits, Overrides, read_overrides
from webstrata.schedule.page_table import CHUNK, PageTable, states_of
from webstrata.schedule.policy import Bounds, ValuePolicy
from webstrata.schedule.retry import retry_after_s
from webstrata.schedule.timer_schedule import NextVisit, SeenPage

RELOAD_S = DAY_S
"""How often all pages are read again: weights and tags may have been changed."""
_STARVED = np.float32(1e8)
_STEP = 0.2
"""How far the threshold follows each round."""


class ValueSchedule:
    """Keeps the schedule of all pages by one budgeted policy."""

    hears = True
    """What feeds and sitemaps announce is weighed by the policy: no page is called for it."""

    def __init__(self, policy: ValuePolicy) -> None:
        self.policy = policy
        self.price = self.threshold = 0.05
        """Below the price no page is visited; the threshold is what pages were worth that the budget just paid for."""
        self._worth: Column = np.empty(0, dtype=np.float32)
        self.wishes = Overrides()
        self.crowd = PageTable(policy)
        self._usual = IntervalLimits(policy.bounds.min_days * DAY_S, policy.bounds.max_days * DAY_S)
        self._largest = 0
        self._loaded_at = -float("inf")
        self._has_news = True
        self._list_rows: dict[str, int] = {}

    # ── keeping up with the store ───────────────────────────────────────────────────────────────────────────

    async def refresh(self, store: Store, now: float) -> None:
        """Take in what other processes changed: pages, wishes, what sources said."""
        days = now / DAY_S
        grown = False
        if now >= self._loaded_at + RELOAD_S:
            await self._reload(store, days)
            self._loaded_at, grown = now, True
        elif (largest := await store.queue.largest_id()) > self._largest:
            await self._take_in(store, self._largest, days)
            self._largest, grown = largest, True
        await self._read_wishes(store, now)
        if grown or self._has_news:
            await self._hear(store)

    def forget(self) -> None:
        """Memory may be ahead of the store: read all again before the next round."""
        self._loaded_at = -float("inf")
        self.crowd = PageTable(self.policy)

    def announced(self) -> None:
        """Sources said something new."""
        self._has_news = True

    async def _reload(self, store: Store, days: float) -> None:
        if states := self.crowd.changed_sites():
            await store.budgets.save_site_states(states)
        self.crowd = PageTable(self.policy)
        self._largest = await store.queue.largest_id()
        await self._take_in(store, 0, days)
        self.crowd.put_sites(await store.budgets.site_states())

    async def _take_in(self, store: Store, after: int, days: float) -> None:
        found: list[PageSummary] = []
        states: list[bytes | None] = []
        while chunk := await store.budgets.summaries(after, CHUNK):
            found += chunk
            states += await states_of(chunk, self.policy, store)
            if len(chunk) < CHUNK:
                break
            after = chunk[-1].id
        self.crowd.take_in(found, states, days)

    async def meet(self, ids: Sequence[int], store: Store, now: float) -> Rows:
        """Rows of these pages; those that memory missed are taken in, -1 stays for what is no page of its own."""
        rows = self.crowd.rows(ids)
        strange = [id_ for id_, row in zip(ids, rows.tolist(), strict=True) if row < 0]
        if strange:
            found = await store.budgets.summaries_of(strange)
            self.crowd.take_in(found, await states_of(found, self.policy, store), now / DAY_S)
            if found:
                await self._read_wishes(store, now)
                self._has_news = True
                rows = self.crowd.rows(ids)
        return rows

    async def _read_wishes(self, store: Store, now: float) -> None:
        self.wishes = await read_overrides(store)
        limited = {page.id: url for url in self.wishes.pages if (page := await store.pages.get(url)) is not None}
        self.crowd.wish(self.wishes, self._usual, limited, now)

    async def _hear(self, store: Store) -> None:
        self._has_news = False
        sources = await store.signals.sources()
        if not sources:
            return
        said = []
        after = 0
        while chunk := await store.signals.announcements_after(after, CHUNK):
            said += chunk
            after = chunk[-1].page_id
        rows = self.crowd.rows(one.page_id for one in said)
        known = [(int(row), one) for row, one in zip(rows, said, strict=True) if row >= 0]
        self.crowd.population.hear(sources, known)
        pages = [(source.url, page.id) for source in sources if (page := await store.pages.get(source.url)) is not None]
        places = self.crowd.rows(id_ for _, id_ in pages)
        self._list_rows = {url: int(row) for (url, _), row in zip(pages, places, strict=True) if row >= 0}

    # ── choosing ────────────────────────────────────────────────────────────────────────────────────────────

    def ranked(self, now: float, count: int) -> Rows:
        """The pages that are worth most now, best first, none below the price."""
        crowd = self.crowd
        if not len(crowd):
            return np.empty(0, dtype=np.intp)
        age = np.where(crowd.ready, crowd.population.age(now / DAY_S), 0.0)
        values = self._values(now)
        values = np.where(age >= crowd.max_days, _STARVED + age.astype(np.float32), values)
        values = np.where(crowd.ready & (age >= crowd.min_days), values, -np.inf).astype(np.float32)
        widest = Bounds(min_days=float(crowd.min_days.min()), max_days=float(crowd.max_days.max()))
        self._worth = values
        return choose(values, age, count, widest, price=self.price)

    def chosen(self, rows: Rows, used_up: bool) -> None:
        """These pages were chosen from the last ranking; `used_up`: more were worth it than could be paid for."""
        found = self._worth[rows]
        found = found[found < _STARVED]
        least = float(found.min()) if used_up and len(found) else self.price
        self.threshold = max(self.price, self.threshold * (max(least, 1e-9) / self.threshold) ** _STEP)

    def _values(self, now: float) -> Column:
        """What a visit is worth; of a list, what it would reveal if that is more."""
        crowd, days = self.crowd, now / DAY_S
        values = crowd.population.values(days) * crowd.factor
        for url, worth in crowd.population.heard.worth(crowd.population, days, self.price).items():
            row = self._list_rows.get(url, -1)
            if row >= 0:
                values[row] = max(values[row], worth)
        return values

    def crossing(self, rows: Rows, now: float) -> Days:
        """When each page will be visited as things stand: its value passes the price, its limits hold. Instants."""
        crowd, days = self.crowd, now / DAY_S
        wait = crossing_days(crowd.population, rows, days, self.threshold, crowd.factor[rows])
        age = self.policy.age(crowd.population.state, rows, days)
        at = np.clip(age + wait, crowd.min_days[rows], crowd.max_days[rows]) - age
        return now + DAY_S * np.maximum(at, 0.0)

    # ── after visits ────────────────────────────────────────────────────────────────────────────────────────

    def after_seen(self, batch: Sequence[SeenPage]) -> list[NextVisit]:
        """Let the policy learn from what was seen, then say when each page will be worth its next visit."""
        if not batch:
            return []
        crowd = self.crowd
        self._add([seen.page for seen in batch])
        rows = crowd.rows(seen.page.id for seen in batch)
        at = np.array([seen.at / DAY_S for seen in batch])
        known = np.array([seen.page.last_seen_at is not None for seen in batch])
        changed = np.array([seen.changed for seen in batch], dtype=bool)
        if known.any():
            crowd.learn(rows[known], at[known], changed[known])
        if not known.all():
            crowd.begin(rows[~known], at[~known])
        latest = max(seen.at for seen in batch)
        next_at = np.maximum(self.crossing(rows, latest), latest)
        return [
            self._turn(seen.at, float(then), crowd.population.state[row].tobytes())
            for seen, row, then in zip(batch, rows.tolist(), next_at, strict=True)
        ]

    def after_failure(self, page: Page, at: float, why: str, again_at: float | None = None) -> NextVisit:
        """Try again later (not before `again_at`); the policy learns nothing from a visit that saw nothing."""
        self._add([page])
        row = int(self.crowd.rows([page.id])[0])
        self.crowd.ready[row] = False
        interval_s = page.interval_s or self.policy.bounds.start_days * DAY_S
        wait_s = max(retry_after_s(page.failures + 1, interval_s, page.url), (again_at or at) - at)
        return NextVisit(
            next_at=at + wait_s,
            interval_s=interval_s,
            policy=self.policy.name,
            policy_state=self.crowd.population.state[row].tobytes() if page.last_seen_at is not None else b"",
            reason=f"try {page.failures + 1} failed ({why}); again after {span(wait_s)}",
        )

    def _add(self, pages: Sequence[Page]) -> None:
        """Pages that are visited before memory met them."""
        rows = self.crowd.rows(page.id for page in pages)
        strange = [page for page, row in zip(pages, rows.tolist(), strict=True) if row < 0]
        if not strange:
            return
        size = self.policy.dtype.itemsize
        states = [page.policy_state if len(page.policy_state) == size else None for page in strange]
        found = [_outline(page) for page in strange]
        self.crowd.take_in(found, states, max((page.last_seen_at or 0.0) for page in strange) / DAY_S)
        self.crowd.wish(self.wishes, self._usual, {}, 0.0)

    def _turn(self, at: float, next_at: float, state: bytes) -> NextVisit:
        wait_s = max(next_at - at, 1e-3)
        return NextVisit(
            next_at=at + wait_s,
            interval_s=wait_s,
            policy=self.policy.name,
            policy_state=state,
            reason=f"{self.policy.name}: worth a visit after {span(wait_s)}, at the price of {self.threshold:.2g} that "
            "the budget sets",
        )


def _outline(page: Page) -> PageSummary:
    return PageSummary(
        id=page.id,
        url=page.url,
        host=page.host,
        weight=page.weight,
        tags=page.tags,
        policy=page.policy,
        policy_state=page.policy_state,
        last_seen_at=page.last_seen_at,
        failures=page.failures,
        next_at=page.next_at,
    )


_NEVER = "never seen yet: visited at once, as far as the budget goes"


async def value_evidence(page: Page, timetable: ValueSchedule, store: Store, now: float) -> dict[str, object]:
    """Rate, age, probability of a change, hints, value, weight, boost, price: what the allocator would weigh now."""
    kept = {state.name: state for state in await store.budgets.states()}
    known = kept.get(THRESHOLD) or kept.get(ALL)
    if known is not None:
        timetable.price = timetable.threshold = known.price
    row = int((await timetable.meet([page.id], store, now))[0])
    if row < 0:
        return {"rule": "visited with the page that it belongs to"}
    crowd = timetable.crowd
    price: dict[str, object] = {"price": round(timetable.threshold, 6)}
    if page.last_seen_at is None:
        return {**price, "rule": _NEVER}
    crowd.put_sites(await store.budgets.site_states([page.host]))
    sources = await store.signals.sources()
    crowd.population.hear(sources, [(row, one) for one in await store.signals.announcements([page.id])])
    days, rows = now / DAY_S, np.array([row], dtype=np.intp)
    told = timetable.policy.explain(crowd.population.state, row, days, crowd.population.signals(rows, days))
    factor = float(crowd.factor[row])
    value = _number(told.get("value")) * float(crowd.weight[row]) * factor
    return {
        **{name: one for name, one in told.items() if name != "hints"},
        **_hint(told.get("hints"), crowd.population.heard.source_of(row)),
        "value": round(value, 6),
        **price,
        "weight": float(crowd.weight[row]),
        "boost": factor,
        "worth_it_at": float(timetable.crossing(rows, now)[0]),
        "min_interval_s": float(crowd.min_days[row]) * DAY_S,
        "max_interval_s": float(crowd.max_days[row]) * DAY_S,
    }


def _hint(hints: object, source: str | None) -> dict[str, object]:
    """What the source that counts most says, flat and by name."""
    if source is None or not isinstance(hints, list) or not hints:
        return {"hint_from": None}
    return {"hint_from": source, **{f"hint_{name}": value for name, value in hints[0].items()}}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
