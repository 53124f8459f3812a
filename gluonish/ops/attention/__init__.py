"""Products of attention: interleaved projections, and windows that slide over the sequence."""
