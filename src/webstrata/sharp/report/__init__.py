"""The report of a capture: one HTML page for readers, made from the certificate."""
