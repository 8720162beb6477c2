from __future__ import annotations

import pytest

from webstrata.detect.answer import Answer, read_answer


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((200, 203, 204, 205), Answer.CONTENT),
        ((304,), Answer.NOT_MODIFIED),
        ((301, 302, 303, 307, 308), Answer.REDIRECT),
        ((404, 410), Answer.GONE),
        ((429, 503), Answer.BACKOFF),
        ((400, 401, 403, 405, 406, 408, 418, 451, 499), Answer.DENIED),
        ((500, 501, 502, 504, 520, 599), Answer.SERVER_ERROR),
        ((0, -1, 100, 101, 199, 201, 202, 206, 299, 300, 305, 306, 399, 600, 999, 10**9), Answer.OTHER),
    ],
)
def test_statuses(statuses: tuple[int, ...], expected: Answer) -> None:
    """Every status has one meaning, and none is without."""
    assert {read_answer(status) for status in statuses} == {expected}
