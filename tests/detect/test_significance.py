from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.significance import share_phrase


@pytest.mark.parametrize(
    ("share", "phrase"),
    [
        (0.0, "less than 0.1 %"),
        (0.0009, "less than 0.1 %"),
        (0.001, "0.1 %"),
        (0.034, "3.4 %"),
        (0.12, "12 %"),
        (0.9999, "nearly 100 %"),
        (1.0, "100 %"),
    ],
)
def test_share_phrases(share: float, phrase: str) -> None:
    """A share has as many digits as a reader needs."""
    assert share_phrase(share) == phrase


@given(st.floats(0, 1))
def test_no_share_is_zero(share: float) -> None:
    """Beside a change no share is shown as 0 %, and only the whole is shown as 100 %."""
    phrase = share_phrase(share)

    assert phrase not in ("0 %", "0.0 %")
    assert (phrase == "100 %") == (share == 1)
