"""The model that Webstrata ships, trained on recorded sites. `webstrata train --recorded shipped` makes it again."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from webstrata.predict.first_sight.model import FirstSightModel
from webstrata.predict.first_sight.model_file import decode

FILE_NAME = "default_model.json"


@cache
def default_model() -> FirstSightModel:
    """The shipped model."""
    return decode((files("webstrata.predict.first_sight") / FILE_NAME).read_bytes())
