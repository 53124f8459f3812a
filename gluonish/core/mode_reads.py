"""A count of the reads of process-wide and scoped modes, by which impure functions are found out.

A function whose result is cached by its arguments must not depend on anything else. So whoever
reads a mode calls `mode_reads`, and a cache that finds the count changed does not store the result.
"""

from collections.abc import Callable
from itertools import count

# Counts a read, and returns the number of reads before. In C, so that no thread's call is lost.
mode_reads: Callable[[], int] = count().__next__
