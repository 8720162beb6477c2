"""Who may be visited now: robots.txt, spacing, back-off. Every request needs the Permit that only this stage makes."""
