"""A site's pages and their rates -> visits and revisits round one instant, and what they prove. Pure.

Every page is visited, then revisited. One that did not change in between is sharp as of any instant that all its
visits precede and all revisits follow. Which schedule makes the most pages sharp:

    hottest_middle  Hottest-middle, offline and online, and SHARC-threshold
    solar           SOLAR-offline (with and without shrinking) and SOLAR-online
    optimal         the best schedule of known pages, and the best revisits after any visits, each with a bound
    online          the best that we know when pages are found by links: the interface of a live capture

A live capture holds one `online.OnlineScheduler`, which is pure (instants in seconds are handed in), deterministic, and
resumable from a plain record:

    OnlineScheduler(slot_s, count=None, most=None, share_middle=True)
    .discovered(ids, rates, weights=None, found_on=None) -> new ids      rates per second; after every visit
    .next_visit() -> id | None
    .visited(id, start, end)          .gave_up(id)                       a page that cannot be had
    .plan_revisits(visit_times=None, slot_s=None) -> order of ids        without the page that both sides share
    .revisited(id, start, end, same=bool)
    .expected() -> float              .instant -> float | None           .unknown() -> pages not found yet
    .record() -> CaptureRecord        OnlineScheduler.resumed(record)

Rates come from forecasts (`prior.py` for pages that have none), confidence intervals from rates (`lengths.py`), the
quietest stretch of the week from past changes (`rhythm.py`).
"""
