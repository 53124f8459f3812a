"""Image operators: resizing, cropping, colors, borders, files."""
