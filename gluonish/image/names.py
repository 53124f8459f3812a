"""Alias `mx.image.image` of `mx.image`, MXNet's module of everything but detection."""

from gluonish.core.module_names import alias_modules

alias_modules({"gluonish.image.image": "gluonish.image"})
