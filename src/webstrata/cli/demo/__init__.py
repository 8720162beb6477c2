"""The `demo` command."""
