"""Fetch: sends the request of a Permit and returns an Exchange; failures of the network are part of the Exchange."""
