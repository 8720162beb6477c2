"""Digests of data formats, independent of formatting, of order without meaning, and of blank node labels."""
