"""Attacks on packages with certificates: an honest capture is edited and packed again, and both verifiers check it."""
