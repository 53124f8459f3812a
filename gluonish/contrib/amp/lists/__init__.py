"""Which operators compute in half precision; the lists come with `mx.contrib.amp` itself."""

from gluonish.contrib.amp.lists import symbol_bf16, symbol_fp16

__all__ = ["symbol_bf16", "symbol_fp16"]
