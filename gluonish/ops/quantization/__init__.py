"""Operators on quantized arrays: 8-bit integers and the range they represent."""
