"""Make image_processors.npz: settings of transformers' image processors, and their pixels.

Run it with a virtual environment that has torch 2.13, transformers 5.24 and Pillow, from anywhere:

    torch/bin/python tests/golden/make_image_processors.py

With ``--check FOLDER``, it instead reads preprocessor_config.json of the folders of networks that
gluonish wrote there, one for each case, and prints how far the pixels are from the expected ones.

For each case there is the text of preprocessor_config.json, and what becomes of a tall image and of
a wide one.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import transformers as hf

sys.path.insert(0, str(Path(__file__).parent))
from image_processor_cases import PROCESSORS, image  # type: ignore[import-not-found]  # beside it

OUT = Path(__file__).with_name("image_processors.npz")


def pixels(processor: Any, turned: bool) -> np.ndarray[Any, Any]:
    """Return what a processor makes of the image."""
    given = image().swapaxes(0, 1) if turned else image()
    made = processor(np.ascontiguousarray(given), return_tensors="np")["pixel_values"][0]
    return np.asarray(made, np.float32)


def make() -> None:
    """Write the file."""
    found: dict[str, Any] = {}
    for case, (kind, settings) in PROCESSORS.items():
        processor = getattr(hf, f"{kind}Pil")(**settings)
        with tempfile.TemporaryDirectory() as folder:
            processor.save_pretrained(folder)
            text = (Path(folder) / "preprocessor_config.json").read_text()
        found[f"{case} settings"] = json.dumps(json.loads(text), sort_keys=True)
        found[f"{case} wide"], found[f"{case} tall"] = (pixels(processor, x) for x in (False, True))
    np.savez_compressed(OUT, **found)


def check(written: Path) -> None:
    """Print how far the pixels of written settings are from the expected ones."""
    expected = np.load(OUT)
    for folder in sorted(written.iterdir()):
        settings = json.loads((folder / "preprocessor_config.json").read_text())
        processor = getattr(hf, f"{settings['image_processor_type']}Pil").from_pretrained(folder)
        case = folder.name.removesuffix("_timm")
        apart = [
            np.abs(pixels(processor, turned) - expected[f"{case} {name}"]).max()
            for turned, name in ((False, "wide"), (True, "tall"))
        ]
        print(folder.name, f"{max(apart):.1e}")  # noqa: T201  # it is a report


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(Path(sys.argv[2]))
    else:
        make()
