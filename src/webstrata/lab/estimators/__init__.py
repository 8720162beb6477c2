"""Estimators of change rates that only `estimate` and experiments use."""
