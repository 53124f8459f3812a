"""Jobs of ImageRecordIter: passes over a record file of JPEG images. Both packages."""

import importlib
from typing import Any

_SIZE = 224
_CHECKED = 8  # images that must be alike
_NORMAL = {
    "mean_r": 123.68,
    "mean_g": 116.28,
    "mean_b": 103.53,
    "std_r": 58.395,
    "std_g": 57.12,
    "std_b": 57.375,
}


class Reading:
    """Passes over a record file through a package's ImageRecordIter: crop, flip, normalize.

    Args:
        threads: That decode and augment.
        package: ``"gluonish"`` or ``"mxnet"``.
        record: The record file.
        batch_size: Images of a batch.
    """

    def __init__(self, threads: int, package: str, record: str, batch_size: int) -> None:
        self.versions = {package: importlib.import_module(package).__version__}
        self._io = importlib.import_module(f"{package}.io")
        self._common = {
            "path_imgrec": record,
            "data_shape": (3, _SIZE, _SIZE),
            "preprocess_threads": threads,
            "verbose": False,
            **_NORMAL,
        }
        self._iterator = self._io.ImageRecordIter(
            batch_size=batch_size, rand_crop=True, rand_mirror=True, shuffle=True, **self._common
        )

    def start(self) -> None:
        """Take two passes: threads start, and memory is there."""
        self.run(2)

    def run(self, count: int) -> None:
        """Take passes; each begins with the reset, so that none is made ahead between turns."""
        for _ in range(count):
            self._iterator.reset()
            for batch in self._iterator:
                batch.data[0].wait_to_read()

    def check(self) -> Any:
        """The first images, from the middle, without chance."""
        iterator = self._io.ImageRecordIter(batch_size=_CHECKED, **self._common)
        return next(iterator).data[0].asnumpy()
