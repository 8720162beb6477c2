"""The CDXJ index of the archive."""
