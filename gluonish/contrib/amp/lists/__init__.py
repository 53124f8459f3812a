"""Which operators compute in half precision, and which in float32."""

from gluonish.contrib.amp.lists import symbol_bf16, symbol_fp16

__all__ = ["symbol_bf16", "symbol_fp16"]
