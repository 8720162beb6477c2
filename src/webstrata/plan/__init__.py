"""Visits -> how long they take, how many threads, how many more would fit, and which round takes which. Pure."""
