"""Benchmarks on the CPU, in turns with other libraries: `python -m benchmarks.cpu` lists them."""
