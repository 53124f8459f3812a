"""Writes webdataset.tar by the package webdataset: ``python -m tests.golden.make_webdataset``.

It needs an environment with webdataset (1.0.2), NumPy and Pillow; gluonish is not used. The values
are those of `samples`, which tests/gluon/data/shards/test_shard_dataset.py reads, too.
"""

from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).with_name("webdataset.tar")


def samples() -> list[dict[str, Any]]:
    """Return the samples, of which one has a name that is longer than a header's field."""
    random = np.random.default_rng(7)
    keys = ("0001", "folder/0002", f"{'long' * 20}/{'folder' * 20}/0003", "ümlaut-4")
    return [
        {
            "__key__": key,
            "png": random.integers(0, 256, (5, 6, 3), dtype=np.uint8),
            "cls": number,
            "txt": f"sample {number} ü",
            "json": {"number": number, "of": ["a", None, 1.5]},
            "npy": random.normal(size=(2, 3)).astype(np.float32),
            "seg.npy": np.arange(number, dtype=np.int64),
            "bin": bytes(range(number * 50)),
        }
        for number, key in enumerate(keys)
    ]


def main() -> None:
    """Write the archive."""
    import webdataset

    with webdataset.TarWriter(str(PATH), mtime=0) as writer:
        for sample in samples():
            writer.write(sample)


if __name__ == "__main__":
    main()
