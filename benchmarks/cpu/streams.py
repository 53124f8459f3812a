"""Images a second of a stream of tar shards: from a server on this machine beside local files.

    python -m benchmarks.cpu streams
    python -m benchmarks.cpu streams --photos FOLDER --workers 0

Writes images, smooth ones with noise or the photographs of a folder, encoded as JPEG with a shorter
side of 256, to shards in a temporary folder. Then a DataLoader reads a ShardDataset with random
crops of 224, in turns: from local files, over HTTP from a server in a process of its own, over HTTP
with a cache that has them, and the same without decoding; and rows of a Parquet file. Prints the
median of the rounds, and of the ratios to local files of the same round. The server shares the
cores, as no server in a network does.
"""

import argparse
import functools
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from gluonish import nd
from gluonish.gluon.data import DataLoader, ParquetDataset, ShardDataset, ShardWriter
from gluonish.gluon.data.vision import transforms
from gluonish.image import imread, imresize


class _Handler(SimpleHTTPRequestHandler):
    """Serves files in HTTP 1.1, with requests for ranges."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Send a file, or a part of it."""
        path = Path(self.translate_path(self.path))
        size = path.stat().st_size
        wanted = self.headers.get("Range")
        start, end = 0, size
        if wanted:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start, end = int(first), int(last) + 1 if last else size
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("ETag", f'"{path.name}"')
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        with path.open("rb") as file:
            try:
                self.connection.sendfile(file, start, end - start)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True


def serve(folder: str, ports: Any) -> None:
    """Serve a folder until the process ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=folder))
    server.daemon_threads = True
    ports.put(server.server_port)
    server.serve_forever()


def pictures(photos: Path | None, count: int) -> Iterator[Any]:
    """Yield images whose shorter side is 256."""
    if photos is None:
        random = np.random.default_rng(0)
        for _ in range(count):
            small = nd.array(random.integers(0, 256, (16, 20, 3)), dtype="uint8")
            smooth = imresize(small, 340, 256).asnumpy()
            yield np.clip(smooth + random.normal(scale=6, size=smooth.shape), 0, 255).astype("u1")
        return
    paths = sorted(path for path in photos.rglob("*") if path.suffix.lower() in (".jpg", ".png"))
    for number in range(count):
        image = imread(paths[number % len(paths)])
        height, width = image.shape[:2]
        scale = 256 / min(height, width)
        yield imresize(image, round(width * scale), round(height * scale))


def write_shards(photos: Path | None, folder: Path, count: int) -> float:
    """Write shards and a Parquet file; return the mean size of an image in bytes."""
    import pyarrow
    import pyarrow.parquet

    with ShardWriter(folder / "train-%06d.tar", max_samples=256) as writer:
        for number, image in enumerate(pictures(photos, count)):
            writer.write({"__key__": f"{number:06}", "jpg": image, "cls": number % 10})
    sizes, rows = [], []
    for sample in ShardDataset(f"{folder}/train-*.tar", decode=False):
        sizes.append(len(sample["jpg"]))
        rows.append({"jpg": sample["jpg"], "cls": int(sample["cls"])})
    table = pyarrow.Table.from_pylist(rows)
    pyarrow.parquet.write_table(table, folder / "train.parquet", row_group_size=256)
    return statistics.mean(sizes)


def rate(loader: DataLoader, count: int) -> float:
    """Return the samples a second of one pass."""
    start = time.perf_counter()
    seen = sum(len(batch[1]) for batch in loader)
    assert seen == count, f"{seen} of {count}"
    return count / (time.perf_counter() - start)


def row_of(row: dict[str, Any]) -> tuple[bytes, Any]:
    """Return a row of the Parquet file as a tuple."""
    return row["jpg"], row["cls"]


def loaders(folder: Path, url: str, cache: Path, workers: int) -> dict[str, DataLoader]:
    """Return the loaders by name."""
    crop = transforms.Compose([transforms.RandomCrop(224), transforms.RandomFlipLeftRight()])
    names = f"train-{{000000..{len(list(folder.glob('*.tar'))) - 1:06}}}.tar"
    arguments: dict[str, Any] = {"num_workers": workers}

    def images(shards: str, **options: Any) -> DataLoader:
        dataset = ShardDataset(shards, ("jpg", "cls"), shuffle=True, **options)
        return DataLoader(dataset.transform_first(crop), 64, **arguments)

    def stored(shards: str) -> DataLoader:
        return DataLoader(ShardDataset(shards, ("jpg", "cls"), decode=False), 64, **arguments)

    def rows(file: str) -> DataLoader:
        return DataLoader(ParquetDataset(file).transform(row_of), 64, **arguments)

    return {
        "images, local files": images(f"{folder}/{names}"),
        "images, HTTP": images(f"{url}/{names}"),
        "images, HTTP with cache": images(f"{url}/{names}", cache=cache),
        "bytes, local files": stored(f"{folder}/{names}"),
        "bytes, HTTP": stored(f"{url}/{names}"),
        "rows of Parquet, local file": rows(f"{folder}/train.parquet"),
        "rows of Parquet, HTTP": rows(f"{url}/train.parquet"),
    }


def main() -> None:
    """Time all loaders in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=Path, help="folder of photographs")
    parser.add_argument("--count", type=int, default=2048)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    np.random.seed(0)  # noqa: NPY002  # the loader's
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as temporary:
        folder, cache = Path(temporary, "shards"), Path(temporary, "cache")
        folder.mkdir()
        nbytes = write_shards(options.photos, folder, options.count)
        ports = context.Queue()
        server = context.Process(target=serve, args=(str(folder), ports), daemon=True)
        server.start()
        url = f"http://127.0.0.1:{ports.get(timeout=60)}"
        found = loaders(folder, url, cache, options.workers)
        rates: dict[str, list[float]] = {name: [] for name in found}
        for loader in found.values():  # workers, kernels and the cache
            rate(loader, options.count)
        for _ in range(options.rounds):
            for name, loader in found.items():
                rates[name].append(rate(loader, options.count))
        server.terminate()
        server.join()
    print(
        f"{options.count} images, shorter side 256, {nbytes / 1e3:.1f} kB each, "
        f"{options.workers} workers, batches of 64, {options.rounds} rounds"
    )
    print(f"{'':30}{'samples/s':>10}{'of local files':>16}")
    base: list[float] = []
    for name, values in rates.items():
        base = values if "local" in name else base
        ratio = statistics.median(a / b for a, b in zip(values, base, strict=True))
        print(f"{name:30}{statistics.median(values):10.0f}{ratio:16.3f}")


if __name__ == "__main__":
    main()
