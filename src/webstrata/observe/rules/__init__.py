"""Include and ignore rules: CSS, XPath, JSONPath and regular expressions."""
