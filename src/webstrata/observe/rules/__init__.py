"""A page's include and ignore rules: CSS, XPath, JSONPath and regular expressions."""
