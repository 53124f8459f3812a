"""What a device does during a call: kernels by name, their calls and time, and the gaps between."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

# What PyTorch's profiler sees on the device beside kernels.
_NO_KERNELS = ("Memcpy", "Memset", "Optimizer", "ProfilerStep", "Torch-Compiled")
_MOST_NAMES = 60
_NAME_LENGTH = 120


class Work(NamedTuple):
    """A kernel, a copy or a setting of memory, on the device.

    Attributes:
        name: Its name.
        start_us: When it began, in microseconds.
        took_us: How long it ran, in microseconds.
    """

    name: str
    start_us: float
    took_us: float

    @property
    def is_kernel(self) -> bool:
        """Whether this is a kernel."""
        return not self.name.startswith(_NO_KERNELS)


def summary(work: Sequence[Work]) -> dict[str, Any]:
    """Return what a call did: figures, and its kernels by descending time.

    Args:
        work: In order of time.

    Returns:
        ``launches``: kernels; ``busy_us``: time with anything on the device; ``gaps_us``: the rest
        between the first begin and the last end; ``kernels``: name, calls and microseconds of each.
    """
    calls: dict[str, int] = defaultdict(int)
    took: dict[str, float] = defaultdict(float)
    busy, gaps, end = 0.0, 0.0, work[0].start_us if work else 0.0
    for one in work:
        calls[one.name] += 1
        took[one.name] += one.took_us
        stop = one.start_us + one.took_us
        gaps += max(0.0, one.start_us - end)
        busy += max(0.0, stop - max(end, one.start_us))
        end = max(end, stop)
    order = sorted(took, key=lambda name: (-took[name], name))
    return {
        "launches": sum(one.is_kernel for one in work),
        "busy_us": round(busy, 1),
        "gaps_us": round(gaps, 1),
        "kernels": [
            (name[:_NAME_LENGTH], calls[name], round(took[name], 1)) for name in order[:_MOST_NAMES]
        ],
    }


def lines(found: dict[str, Any], most: int = 12) -> list[str]:
    """Return a summary as lines of a Markdown table.

    Args:
        found: What `summary` returned.
        most: Number of kernels.
    """
    head = f"{found['launches']} kernels, {found['busy_us'] / 1e3:.3f} ms busy, "
    made = [head + f"{found['gaps_us'] / 1e3:.3f} ms of gaps", "", "| us | calls | kernel |"]
    made.append("|---|---|---|")
    for name, calls, took_us in found["kernels"][:most]:
        made.append(f"| {took_us:,.1f} | {calls} | {name.replace('|', ' ')} |")
    return made
