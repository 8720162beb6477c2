"""The compiled part of `observe`: C sources, and the library that the build makes of them."""
