"""Times, sizes and shares as people read them."""

__all__ = ["bytes_text", "share_text", "time_text"]

_TIMES = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))  # powers of ten, as the letters say


def time_text(time_us: float) -> str:
    """Return a time in the unit that fits it, with three digits: 1,234.5 us is 1.23 ms."""
    for size, unit in _TIMES:
        if time_us >= size:
            return f"{_three_digits(time_us / size)} {unit}"
    return f"{time_us:.2f} µs" if time_us else "0 µs"


def bytes_text(nbytes: float) -> str:
    """Return a number of bytes in the unit that fits it, with three digits."""
    for size, unit in _SIZES:
        if nbytes >= size:
            return f"{_three_digits(nbytes / size)} {unit}"
    return f"{nbytes:.0f} bytes"


def share_text(share: float) -> str:
    """Return a part of one in percent: 0.0312 is 3.1 %."""
    return f"{100 * share:.1f} %"


def _three_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"
