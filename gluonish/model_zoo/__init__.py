"""Networks with published weights."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.model_zoo.registry import get_model

__all__ = [
    "from_gguf",
    "from_pretrained",
    "get_model",
    "model_store",
    "save_pretrained",
    "speech",
    "text",
    "vision",
]

if TYPE_CHECKING:
    from gluonish.model_zoo import model_store, speech, text, vision
    from gluonish.model_zoo.pretrained.folder import from_pretrained, save_pretrained
    from gluonish.model_zoo.pretrained.gguf_network import from_gguf
else:
    __getattr__ = _attach(
        __name__,
        ("model_store", "speech", "text", "vision"),
        {
            "from_gguf": "gluonish.model_zoo.pretrained.gguf_network:from_gguf",
            "from_pretrained": "gluonish.model_zoo.pretrained.folder:from_pretrained",
            "save_pretrained": "gluonish.model_zoo.pretrained.folder:save_pretrained",
        },
    )
