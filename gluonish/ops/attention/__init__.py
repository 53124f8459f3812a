"""Attention products: on interleaved projections, and in sliding windows."""
