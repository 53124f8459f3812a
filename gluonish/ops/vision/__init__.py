"""Operators that read images: samplers, regions, resizing, and windows in other forms."""
