"""Commands for captures, certificates and coherence."""
