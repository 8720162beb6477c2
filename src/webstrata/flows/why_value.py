"""The evidence behind a page's next visit under a policy that values visits, from what the store keeps of it."""

from __future__ import annotations

import numpy as np

from webstrata.clock import DAY_S
from webstrata.flows.purses import ALL, THRESHOLD
from webstrata.flows.value_timetable import ValueSchedule
from webstrata.ports import Store
from webstrata.records import Page

_NEVER = "never seen yet: visited at once, as far as the budget goes"


async def value_evidence(page: Page, timetable: ValueSchedule, store: Store, now: float) -> dict[str, object]:
    """Rate, age, probability of a change, hints, value, weight, boost, price: what the allocator would weigh now."""
    kept = {state.name: state for state in await store.paces()}
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
    crowd.put_sites(await store.site_states([page.host]))
    sources = await store.sources()
    crowd.population.hear(sources, [(row, one) for one in await store.announcements([page.id])])
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
