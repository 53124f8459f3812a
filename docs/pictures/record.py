"""Keep what tutorials print and draw, for their pages: ``python docs/pictures/record.py NAME ...``.

Each named tutorial runs in full (minutes), or with ``--quick``. Its output goes to
``docs/pictures/tutorials/NAME.txt`` and its pictures beside it, with few colors so that they are
small. Arguments behind ``--`` go to the tutorial.
"""

import argparse
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).resolve().parent / "tutorials"
COLORS = 96
WIDTH = 1000  # pixels
TIME = re.compile(r"\b\d+(\.\d+)? m?s\b")  # says more of the machine than of the program
LINES = 60  # of output; the middle of more is left out


def record(name: str, options: list[str]) -> None:
    """Run a tutorial and keep its output and pictures."""
    with tempfile.TemporaryDirectory() as folder:
        given = [] if name == "first_steps" else ["--out", folder, *options]
        result = subprocess.run(
            [sys.executable, str(ROOT / "tutorials" / f"{name}.py"), *given],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        text = re.sub(rf"{re.escape(folder)}/?", "", result.stdout)
        command = " ".join(["$ python", f"tutorials/{name}.py", *options])
        (KEPT / f"{name}.txt").write_text(f"{command}\n{shortened(text)}", "utf-8")
        for old in KEPT.glob(f"{name}-*.png"):
            old.unlink()
        for picture in sorted(Path(folder).glob("*.png")):
            stem = picture.stem.replace("-", "_").removeprefix(name).strip("_") or "result"
            (KEPT / f"{name}-{stem}.png").write_bytes(small(picture))


def shortened(text: str) -> str:
    """Return a program's output without what overwrote itself, times, and the middle of much."""
    lines = [line.rpartition("\r")[2].rstrip() for line in text.rstrip().split("\n")]
    lines = [line for line in lines if not TIME.search(line)]
    if len(lines) > LINES:
        lines = [*lines[: LINES // 2], "...", *lines[-LINES // 2 :]]
    return "\n".join(lines) + "\n"


def small(picture: Path) -> bytes:
    """Return a picture of few colors as PNG."""
    image = Image.open(picture).convert("RGB")
    if image.width > WIDTH:
        image = image.resize((WIDTH, image.height * WIDTH // image.width), Image.Resampling.LANCZOS)
    found = io.BytesIO()
    image.quantize(COLORS, dither=Image.Dither.NONE).save(found, "PNG", optimize=True)
    return found.getvalue()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="run them in their quick form")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    known = parser.parse_args(sys.argv[1:end])
    for tutorial in known.names:
        record(tutorial, [*(["--quick"] if known.quick else []), *sys.argv[end + 1 :]])
