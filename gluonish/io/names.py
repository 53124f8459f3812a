"""Alias `mx.io.io` of `mx.io`, MXNet's module of the iterators."""

from gluonish.core.module_names import alias_modules

alias_modules({"gluonish.io.io": "gluonish.io"})
