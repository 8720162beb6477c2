"""Captures of whole sites: plan, download twice, certify, write the WACZ file, verify."""
