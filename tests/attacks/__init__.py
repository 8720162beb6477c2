"""Hostile web servers beside healthy ones, and the runner that measures what they cost the healthy ones."""
