"""How homes use a database: in which schemas their tables are, and to which homes tables belong."""
