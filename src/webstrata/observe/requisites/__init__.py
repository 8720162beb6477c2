"""Finds the files that pages, style sheets, scripts and manifests need to be shown."""
