"""HTML: character sets, tree, text, links, main content."""
