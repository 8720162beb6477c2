"""Packing of policy states for the store."""

from __future__ import annotations

import numpy as np

from webstrata.columns import columns, pack, unpack

DTYPE = columns({"interval": np.float64, "flags": np.uint8})


def _state(*intervals: float) -> np.ndarray:
    state = np.zeros(len(intervals), dtype=DTYPE)
    state["interval"] = intervals
    return state


def test_round_trip() -> None:
    """Packed rows are restored in order."""
    state = _state(1.5, 2.5, 3.5)
    assert unpack(pack(state), _state(0, 0, 0)).tobytes() == state.tobytes()


def test_rows_that_do_not_fit_start_fresh() -> None:
    """A missing row, or one of another size, is replaced by the fresh row; the other rows are restored."""
    kept = pack(_state(5.0))[0]
    state = unpack([b"", kept, b"xx"], _state(7.0, 7.0, 7.0))
    assert state["interval"].tolist() == [7.0, 5.0, 7.0]
    assert unpack([], _state()).shape == (0,)
