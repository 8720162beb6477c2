"""Parsing in other processes: the tasks, the processes that run them, their queues, and what they cannot parse."""
