"""A second, separate verifier of certificates: one file that needs nothing of Webstrata, to be read and kept."""
