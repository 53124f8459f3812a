"""Operators on images: sampling, regions of interest, resizing and windows."""
