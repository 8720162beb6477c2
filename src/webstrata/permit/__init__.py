"""Permits: robots.txt, spacing and back-off decide when a host may be visited. Every request needs a Permit."""
