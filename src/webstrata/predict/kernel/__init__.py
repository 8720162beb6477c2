"""The compiled part of `predict`: C sources, and the library that the build makes of them."""
