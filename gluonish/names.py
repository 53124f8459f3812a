"""Makes `mx.mon` and `mx.viz` the modules that they are short for, still loaded at first use."""

from gluonish.core.module_names import alias_modules

__all__: list[str] = []

alias_modules({"gluonish.mon": "gluonish.monitor", "gluonish.viz": "gluonish.visualization"})
