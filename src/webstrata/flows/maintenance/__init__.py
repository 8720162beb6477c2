"""Maintenance of a home: building the database again from the archive."""
