from __future__ import annotations

import pytest

from webstrata.detect.response_class import StatusClass, status_class


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((200, 203, 204, 205), StatusClass.CONTENT),
        ((304,), StatusClass.NOT_MODIFIED),
        ((301, 302, 303, 307, 308), StatusClass.REDIRECT),
        ((404, 410), StatusClass.GONE),
        ((429, 503), StatusClass.BACKOFF),
        ((400, 401, 403, 405, 406, 408, 418, 451, 499), StatusClass.DENIED),
        ((500, 501, 502, 504, 520, 599), StatusClass.SERVER_ERROR),
        ((0, -1, 100, 101, 199, 201, 202, 206, 299, 300, 305, 306, 399, 600, 999, 10**9), StatusClass.OTHER),
    ],
)
def test_statuses(statuses: tuple[int, ...], expected: StatusClass) -> None:
    """Every status code has exactly one class."""
    assert {status_class(status) for status in statuses} == {expected}
