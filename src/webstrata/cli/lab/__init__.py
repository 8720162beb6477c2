"""The `lab` commands: experiments."""
