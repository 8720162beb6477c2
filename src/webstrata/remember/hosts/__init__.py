"""What is stored for each host: its politeness, and the template of its pages."""
