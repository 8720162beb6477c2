"""Flows: each calls pure code and ports one after the other; `node.py` passes the adapters in."""
