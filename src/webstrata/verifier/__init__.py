"""A second verifier of certificates, written without Webstrata code: one file, to be stored with captures."""
