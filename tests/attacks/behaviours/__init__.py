"""The hostile behaviours, one table for each group."""
