"""What the benchmarks share: peers in processes of their own, measured in turns."""
