"""Lists of the operators that compute in half precision, and of those that compute in float32."""

from gluonish.contrib.amp.lists import symbol_bf16, symbol_fp16

__all__ = ["symbol_bf16", "symbol_fp16"]
