"""The functions of `observe` that take most of its time: C sources, their Python equivalents, and the choice of one."""
