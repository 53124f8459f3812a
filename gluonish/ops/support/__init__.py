"""What operators share: shapes, precision, sums, windows, random numbers. No operator."""
