"""What a capture proves: verdicts for its pages, certificate, signature, time stamp, coherence."""
