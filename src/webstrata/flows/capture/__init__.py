"""Captures of whole sites: plan, download twice, certify, pack, verify."""
