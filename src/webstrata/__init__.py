"""Webstrata keeps a faithful record of a changing web.

Folders are the data's way round the loop: permit, fetch, archive, observe, detect, remember, schedule.
Import from the leaf (`from webstrata.permit.robots import Robots`); this package exports only its version.
"""

__version__ = "0.1.0"
