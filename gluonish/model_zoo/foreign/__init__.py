"""Conversion of PyTorch and Keras weights for the networks of the zoo."""

from gluonish.model_zoo.foreign.checkpoint import Checkpoint, open_checkpoint
from gluonish.model_zoo.foreign.conversion import (
    Conversion,
    convert,
    import_weights,
    input_shape,
)
from gluonish.model_zoo.foreign.output_file import save_conversion

__all__ = [
    "Checkpoint",
    "Conversion",
    "convert",
    "import_weights",
    "input_shape",
    "open_checkpoint",
    "save_conversion",
]
