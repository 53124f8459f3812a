"""Makes ``nd.contrib`` importable as ``gluonish.contrib.ndarray``, and so on: the same modules."""

from gluonish.core.module_names import alias_modules

__all__: list[str] = []

alias_modules(
    {
        "gluonish.contrib.quant": "gluonish.contrib.quantization",
        "gluonish.contrib.nd": "gluonish.ndarray.contrib",
        "gluonish.contrib.ndarray": "gluonish.ndarray.contrib",
        "gluonish.contrib.sym": "gluonish.symbol.contrib",
        "gluonish.contrib.symbol": "gluonish.symbol.contrib",
    }
)
