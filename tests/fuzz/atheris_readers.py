"""Coverage-guided fuzzing of the readers, by atheris; a script, not a test.

    python -m venv fuzz && fuzz/bin/pip install -e '.[image]' atheris
    fuzz/bin/python tests/fuzz/atheris_readers.py "symbol" -max_total_time=60

The first argument is a name of `READERS`; the others are libFuzzer's. What a reader may do with a
damaged file is what the tests allow: give a value, or refuse with file and place, in bounds. A file
for which it does something else is left in the current folder as ``crash-...``; give its path as an
argument to run it alone.
"""

import os
import sys
import tempfile
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "engine")]

# What reads files; to instrument all of gluonish takes half a minute.
_READING = (
    *("recordio", "symbol", "model", "optimizer.restricted_pickle", "optimizer.states"),
    *("ndarray.array_file", "ndarray.array_record", "ndarray.npz_file", "ndarray.serialization"),
    *("ndarray.list_file", "ndarray.byte_reader", "ndarray.safetensors_file"),
    "ndarray.sharded_file",
    *("core.json_text", "core.pickle_safety", "core.schema", "gluon.block.files"),
    *("data.vision.datasets", "io.mnist_iter", "tools.im2rec", "optimizer.states"),
)

with atheris.instrument_imports(include=[f"gluonish.{name}" for name in _READING]):
    from tests.fuzz.readers import READERS, checked_call
    from tests.fuzz.samples import files_of

_MAX_NBYTES = 1 << 14


def main() -> None:
    """Fuzz one reader until libFuzzer's limit or the first wrong answer."""
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"usage: {sys.argv[0]} READER [libFuzzer's options]; READER: {', '.join(READERS)}")
    reader = READERS[sys.argv[1]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reader.prepare(folder)
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, content in enumerate(files_of(reader.kind)):
            (corpus / str(number)).write_bytes(content)
        path = folder / reader.name

        def run(content: bytes) -> None:
            path.write_bytes(content)
            checked_call(reader, path)

        run(next(iter(files_of(reader.kind))))  # caches, imports and kernels
        options = [f"-max_len={_MAX_NBYTES}", "-timeout=20", *sys.argv[2:]]
        files = [option for option in options if not option.startswith("-")]
        places = [] if any(map(os.path.isfile, files)) else [str(corpus)]
        atheris.Setup([sys.argv[0], *options, *places], run)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
