"""Jobs of a data loader: the package's own, and the decoding library alone. Both packages.

A record file holds JPEG images. `Loading` takes a pass over it through `DataLoader`: decode, crop,
flip, ToTensor, Normalize. `Decoding` decodes the same bytes with OpenCV on all cores, and nothing
else: what no loader that decodes by it can be faster than.
"""

import importlib
import multiprocessing
import threading
from pathlib import Path
from typing import Any

import numpy as np

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_SIZE = 224
_CHECKED = 8  # images that must be alike


class Loading:
    """Passes over a record file through a package's DataLoader.

    Args:
        threads: Worker processes.
        package: ``"gluonish"`` or ``"mxnet"``.
        record: The record file.
        crop: ``"random"`` or ``"resized"``.
        batch_size: Images of a batch.
        thread_pool: Whether the workers are threads.
    """

    def __init__(
        self,
        threads: int,
        package: str,
        record: str,
        crop: str,
        batch_size: int,
        thread_pool: bool = False,
    ) -> None:
        mx = self._mx = importlib.import_module(package)
        self.versions = {package: mx.__version__}
        self._dataset = mx.gluon.data.vision.ImageRecordDataset(record)
        self._crop = crop
        self._batch_size = batch_size
        self._workers, self._thread_pool = threads, thread_pool
        self._loader = self._make(self._transform(crop), threads, True)

    def _transform(self, crop: str) -> Any:
        transforms = self._mx.gluon.data.vision.transforms
        if crop == "center":
            first = [transforms.CenterCrop(_SIZE)]
        elif crop == "resized":
            first = [transforms.RandomResizedCrop(_SIZE), transforms.RandomFlipLeftRight()]
        else:
            first = [_random_crop(self._mx), transforms.RandomFlipLeftRight()]
        return transforms.Compose(
            [*first, transforms.ToTensor(), transforms.Normalize(_MEAN, _STD)]
        )

    def _make(self, transform: Any, workers: int, shuffle: bool) -> Any:
        return self._mx.gluon.data.DataLoader(
            self._dataset.transform_first(transform),
            self._batch_size,
            shuffle=shuffle,
            num_workers=workers,
            thread_pool=self._thread_pool,
        )

    def start(self) -> None:
        """Take the first pass, for which workers start."""
        self.run(1)

    def run(self, count: int) -> None:
        """Take passes."""
        for _ in range(count):
            for images, _ in self._loader:
                images.wait_to_read()

    def check(self) -> Any:
        """The first images, from the middle, without chance."""
        images, _ = next(iter(self._make(self._transform("center"), 0, False)))
        return images[:_CHECKED].asnumpy()


class Growth(Loading):
    """Takes passes and says how much memory all processes hold after each."""

    def check(self) -> Any:
        """Twenty passes; MB of 10^6 bytes, after each."""
        found = []
        for _ in range(20):
            self.run(1)
            found.append(_held_mb())
        return np.array(found)


def _random_crop(mx: Any) -> Any:
    """Return a package's own random crop, or where it has none a block around its function."""
    if hasattr(mx.gluon.data.vision.transforms, "RandomCrop"):
        return mx.gluon.data.vision.transforms.RandomCrop(_SIZE)

    class RandomCrop(mx.gluon.Block):  # type: ignore[misc]  # of a package that is not known here
        def forward(self, x: Any) -> Any:
            return mx.image.random_crop(x, (_SIZE, _SIZE))[0]

    return RandomCrop()


def _held_mb() -> float:
    """Proportional memory of this process and its children: what is shared counts once."""
    children = Path(f"/proc/self/task/{threading.main_thread().native_id}/children").read_text()
    total = 0
    for process in ("self", *children.split()):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total / 1e6


class Decoding:
    """Passes of `cv2.imdecode` over the images of a record file, which are in memory.

    Args:
        threads: How many decode at a time.
        record: The record file.
        processes: Whether they are processes, else threads.
    """

    def __init__(self, threads: int, record: str, processes: bool = True) -> None:
        import cv2

        from gluonish.recordio import MXIndexedRecordIO, unpack

        cv2.setNumThreads(1)
        self.versions = {"opencv": cv2.__version__}
        file = MXIndexedRecordIO(str(Path(record).with_suffix(".idx")), record, "r")
        images = [np.frombuffer(unpack(file.read_idx(key))[1], np.uint8) for key in file.keys]
        self._images = images
        self._parts = [images[i::threads] for i in range(threads)]
        self._pipes = [_decoder(part) for part in self._parts] if processes else []

    def start(self) -> None:
        """Take the first pass."""
        self.run(1)

    def run(self, count: int) -> None:
        """Take passes."""
        for pipe in self._pipes:
            pipe.send(count)
        if self._pipes:
            for pipe in self._pipes:
                pipe.recv()
            return
        started = [threading.Thread(target=_decode, args=(part, count)) for part in self._parts]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    def check(self) -> Any:
        """What `Loading.check` gives, by NumPy."""
        import cv2

        found = []
        for stored in self._images[:_CHECKED]:
            image = cv2.imdecode(stored, cv2.IMREAD_COLOR)[..., ::-1]
            y, x = (image.shape[0] - _SIZE) // 2, (image.shape[1] - _SIZE) // 2
            middle = image[y : y + _SIZE, x : x + _SIZE].astype(np.float32) / 255
            found.append(((middle - np.float32(_MEAN)) / np.float32(_STD)).transpose(2, 0, 1))
        return np.array(found)


def _decode(images: list[Any], count: int) -> None:
    import cv2

    for _ in range(count):
        for stored in images:
            cv2.imdecode(stored, cv2.IMREAD_COLOR)


def _decoder(images: list[Any]) -> Any:
    """Start a process that decodes whenever it is told how often; return the pipe to it."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    context.Process(target=_serve, args=(theirs, images), daemon=True).start()
    return ours


def _serve(pipe: Any, images: list[Any]) -> None:
    while True:
        try:
            count = pipe.recv()
        except EOFError:
            return
        _decode(images, count)
        pipe.send(count)
