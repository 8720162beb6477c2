"""Integrity of the database: damaged files, values that changed by themselves, rows that contradict each other."""
