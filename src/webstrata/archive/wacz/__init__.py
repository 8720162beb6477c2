"""WACZ packages: write a selection of captures, read a package, check its contents and its ZIP layout."""
