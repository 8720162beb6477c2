"""Fetch: a Permit becomes an Exchange, one request and one answer, whatever the network does."""
