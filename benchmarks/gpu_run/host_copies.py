"""Rows of copies between ordinary host memory and a GPU."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.gpu_run.comparisons import compare
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note
from benchmarks.gpu_run.timing import Contender

_COUNT = 64 * 3 * 224 * 224  # numbers of a batch of images


def upload(place: Place, note: Note) -> Iterator[None]:
    """Compare uploads of a batch of images in float32: GB/s are 38.5 by the milliseconds."""
    mx, values = place.mx, _values(place)

    def ours() -> Any:
        return mx.nd.array(values, ctx=mx.gpu(0))

    def theirs() -> Callable[[], Any]:
        tensor = place.torch.from_numpy(values)
        return lambda: tensor.to(place.torch_device)

    yield from _against_torch(place, note, ours, theirs)


def download(place: Place, note: Note) -> Iterator[None]:
    """Compare downloads of the same array, to memory that is new each time."""
    mx, values = place.mx, _values(place)
    near = mx.nd.array(values, ctx=mx.gpu(0))

    def theirs() -> Callable[[], Any]:
        tensor = place.torch.from_numpy(values).to(place.torch_device)
        return lambda: tensor.to("cpu", copy=True)

    yield from _against_torch(place, note, near.asnumpy, theirs)


def _values(place: Place) -> Any:
    count = place.pick(_COUNT, 1 << 17)
    return np.random.default_rng(0).standard_normal(count).astype(np.float32)


def _against_torch(
    place: Place, note: Note, ours: Callable[[], Any], theirs: Callable[[], Callable[[], Any]]
) -> Iterator[None]:
    """Compare a copy of ours with PyTorch's, from pageable memory."""

    def peers() -> dict[str, Contender]:
        call = theirs()
        return {"torch eager": Contender(call, place.torch_timer())}

    yield from compare(place, note, ours, peers, per_step=1, seconds=0.3)
