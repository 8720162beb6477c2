"""The commands about pages to come: when they change, and which are worth a visit."""
