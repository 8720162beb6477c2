"""Pictures for lab, serve and cli."""
