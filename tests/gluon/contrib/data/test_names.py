import os
import subprocess
import sys

import gluonish as mx

# In a new interpreter: here some other test may have imported the module.
PROGRAM = """
import sys
import gluonish as mx
assert "gluonish.gluon.contrib.data.vision" not in sys.modules
print(mx.gluon.contrib.data.vision.transforms.bbox.bbox_iou.__name__)
"""


def test_vision_loads_at_its_first_use() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "bbox_iou\n", done.stderr


def test_the_names_of_the_package_are_listed() -> None:
    assert dir(mx.gluon.contrib.data) == ["IntervalSampler", "sampler", "text", "vision"]
