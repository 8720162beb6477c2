"""HTML: character encoding, tree, metadata, links, lines of text and main content."""
