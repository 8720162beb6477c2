"""Plots for lab, serve and cli."""
