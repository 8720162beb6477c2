"""Every speed claim as a ratio: contenders take turns in one run, against the same server, on the same pages."""
