"""Image operators: sizes, colours, borders, files."""
