"""The proof of a capture: verdicts of its pages, certificate, signature and time stamp; coherence of any collection."""
