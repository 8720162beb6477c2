"""Requests of visits: permits and leases of hosts, slots of open requests, limits of one visit."""
