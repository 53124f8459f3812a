"""Golden lists and record files of MXNet's tools/im2rec.py; writes im2rec.json.

Run it with an interpreter that has MXNet 1.9.1: ``python tests/golden/make_im2rec.py``. The images
are made here and stored, too, so that the tests read what MXNet's tool read.
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import cv2
import mxnet
import numpy as np

TOOL = pathlib.Path(mxnet.__file__).parent / "tools" / "im2rec.py"
OUT = pathlib.Path(__file__).with_name("im2rec.json")

LISTS = {
    "flat": "",
    "recursive": "--recursive",
    "sorted": "--recursive --no-shuffle",
    "parts": "--recursive --train-ratio 0.6 --test-ratio 0.2",
    "no_test": "--recursive --train-ratio 0.5",
    "all_used": "--recursive --train-ratio 0.7 --test-ratio 0.3",
    "no_train": "--recursive --train-ratio 0 --test-ratio 0.3",
    "chunks": "--recursive --chunks 3",
    "chunks_and_parts": "--recursive --chunks 3 --train-ratio 0.6 --test-ratio 0.2",
    "empty_chunks": "--chunks 5",
    "endings": "--recursive --exts .png .JPG",
}
RECORDS = {
    "plain": "",
    "pass_through": "--pass-through",
    "labels": "--pass-through --pack-label",
    "resized": "--resize 9 --encoding .png --quality 1",
    "grown": "--resize 20 --encoding .png --quality 9",
    "cropped": "--center-crop --encoding .png --quality 1",
    "both": "--center-crop --resize 5 --encoding .png",
    "gray": "--color 0 --encoding .png",
    "as_stored": "--color -1 --encoding .png",
    "low_quality": "--quality 30 --resize 9",
}


def images(root):
    rng = np.random.default_rng(0)

    def write(path, height, width, channels=3):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        image = rng.integers(0, 256, (2, 3, channels)).astype(np.uint8)
        cv2.imwrite(str(file), cv2.resize(image, (width, height)))

    write("top.jpg", 12, 17)
    write("top2.png", 11, 7)
    for i in range(3):
        write(f"a/{i}.jpg", 12 + i, 16)
        write(f"b/{i}.png", 14, 9 + i)
    write("b/sub/x.JPG", 8, 13)
    write("b/sub/10.jpeg", 9, 13)
    write("c d/gray.png", 10, 15, 1)
    write("c d/alpha.png", 10, 15, 4)
    (root / "c d/note.txt").write_text("no image")
    (root / "empty").mkdir()


def run(*arguments):
    subprocess.run(
        [sys.executable, str(TOOL), *arguments],
        check=True,
        timeout=120,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = folder / "root"
        images(root)
        golden = {
            "files": {
                str(path.relative_to(root)): base64.b64encode(path.read_bytes()).decode()
                for path in sorted(root.rglob("*"))
                if path.is_file()
            },
            "lists": {},
            "records": {},
        }
        for case, options in LISTS.items():
            (folder / case).mkdir()
            # The prefix stands first: --exts would take it.
            run(str(folder / case / "x"), str(root), "--list", *options.split())
            golden["lists"][case] = {  # type: ignore[assignment]
                "options": options,
                "files": {p.name: p.read_text() for p in sorted((folder / case).iterdir())},
            }
        lines = (folder / "sorted" / "x.lst").read_text().splitlines()
        # Several labels on every other line, numbers with gaps, and spaces.
        for i in range(0, len(lines), 2):
            number, label, path = lines[i].split("\t")
            lines[i] = f" {int(number) + 100} \t{label}\t-1.5\t2e3\t{path}"
        golden["list"] = "\n".join(lines) + "\n"  # type: ignore[assignment]
        for case, options in RECORDS.items():
            (folder / f"r_{case}").mkdir()
            (folder / f"r_{case}" / "x.lst").write_text(golden["list"])
            run(str(folder / f"r_{case}" / "x"), str(root), *options.split())
            golden["records"][case] = {  # type: ignore[assignment]
                "options": options,
                "rec": base64.b64encode((folder / f"r_{case}" / "x.rec").read_bytes()).decode(),
                "idx": (folder / f"r_{case}" / "x.idx").read_text(),
            }
    OUT.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
