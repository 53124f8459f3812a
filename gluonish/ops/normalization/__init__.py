"""Normalization operators, and the operators that plans split them into."""
