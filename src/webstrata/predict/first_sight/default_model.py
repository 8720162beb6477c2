"""The model that Webstrata ships, trained on recorded sites. `webstrata train --recorded shipped` makes it again."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from webstrata.predict.first_sight.model import FirstSightModel
from webstrata.predict.first_sight.model_file import decode

FILE_NAME = "default_model.json"


@cache
def default_model() -> FirstSightModel | None:
    """The shipped model; None if the installation has none."""
    file = files("webstrata.predict.first_sight") / FILE_NAME
    return decode(file.read_bytes()) if file.is_file() else None
