"""Commands for the home: set-up, status, settings, integrity."""
