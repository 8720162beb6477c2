"""The recorded sites as change histories."""

from __future__ import annotations

from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, load_shipped
from webstrata.lab.policies.recorded_histories import recorded_costs, recorded_histories


def test_changes_and_sizes_of_a_recorded_site() -> None:
    """Each page of the start has its changes within the recording, and the mean size of its versions."""
    (recording,) = (one for one in load_shipped() if one.site == "spencerahill")
    start, end = SHIPPED_WINDOW
    histories = recorded_histories([recording])

    assert set(histories.site) == {"spencerahill"}
    assert len(histories) == len(recording.alive_at(start)) > 5
    assert 0 < len(histories.changes) <= sum(len(versions) - 1 for versions in recording.pages.values())
    assert start < histories.changes.min() <= histories.changes.max() <= end
    costs = recorded_costs(histories)
    page = histories.page.index(recording.url("index.html")) if recording.url("index.html") in histories.page else 0
    path = next(path for path in recording.pages if recording.url(path) == histories.page[page])
    sizes = [len(recording.contents[blob]) for _, blob in recording.pages[path] if blob]
    assert min(sizes) <= costs.size[page] <= max(sizes)
    assert not costs.conditional.any()  # its server sends no validators
