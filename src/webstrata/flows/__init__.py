"""The loop, readable: stages called one after the other, each flow on one screen; adapters are handed in."""
