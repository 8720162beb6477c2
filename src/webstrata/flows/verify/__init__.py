"""Verifies the certificate of a capture against the bytes of its package."""
