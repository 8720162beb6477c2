"""The functions of `predict` that run over all pages: C sources, their NumPy equivalents, and the choice of one."""
