"""The command that trains the classifier of pages at first sight and explains what it says."""
