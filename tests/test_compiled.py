"""Where the compiled kernels are, and the error for one that does not fit."""

from __future__ import annotations

import pytest

from webstrata.compiled import STAGES, is_compiled, kernel_description, library_path, load_library
from webstrata.errors import WebstrataError


def test_description_follows_the_files() -> None:
    """The description says "compiled" exactly if every library is installed."""
    assert kernel_description().startswith("compiled") == all(library_path(stage).is_file() for stage in STAGES)


@pytest.mark.skipif(not is_compiled("observe"), reason="the compiled kernel is not installed")
def test_library_of_another_version() -> None:
    """A library whose version the callers do not expect is an error that says what to do."""
    with pytest.raises(WebstrataError, match=r"install Webstrata again.*belongs to another version"):
        load_library("observe", -1)


def test_missing_library() -> None:
    """Without the file there is no compiled kernel, and loading it is an error that says what to do."""
    assert not is_compiled("detect")
    with pytest.raises(WebstrataError, match="install Webstrata again"):
        load_library("detect", 1)
