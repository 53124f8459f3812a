"""MemoryInfo: how much memory a device has, and what of it is used."""

from typing import NamedTuple

__all__ = ["MemoryInfo"]


class MemoryInfo(NamedTuple):
    """Memory of a device, in bytes.

    Attributes:
        free: What the driver or the system could still give.
        total: What the device has.
        used: What this process has in use: on a GPU, blocks of arrays; on a CPU, all that the C
            library gave out.
        held: What it keeps for later arrays, and `Context.empty_cache` gives back.
        peak: On a GPU, the most that was used at once; on a CPU, the most that was resident.
    """

    free: int
    total: int
    used: int
    held: int
    peak: int

    @property
    def reserved(self) -> int:
        """Used and held together: what the process has of the device."""
        return self.used + self.held
