"""Makes `gluonish.nn` importable as ``gluonish.gluon.nn``, and so on: the same module objects."""

from gluonish.core.module_names import alias_modules

__all__: list[str] = []

GLUON_MODULES = ("data", "loss", "metric", "model_zoo", "nn", "parameter", "trainer")
# Modules of `gluonish.gluon.contrib`, which live in `gluonish.contrib`.
CONTRIB_MODULES = ("cnn", "data", "estimator", "nn", "rnn")

alias_modules({f"gluonish.gluon.{name}": f"gluonish.{name}" for name in GLUON_MODULES})
# `gluonish.rnn` is MXNet's symbolic package.
alias_modules({"gluonish.gluon.rnn": "gluonish.recurrent"})
alias_modules(
    {f"gluonish.gluon.contrib.{name}": f"gluonish.contrib.{name}" for name in CONTRIB_MODULES}
)
