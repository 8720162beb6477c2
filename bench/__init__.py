"""Benchmarks behind every speed claim. Results are ratios: contenders take turns in one run, on the same pages."""
