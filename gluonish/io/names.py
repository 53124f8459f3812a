"""Makes `mx.io.io` a second name of `mx.io`, whose iterators MXNet defines there."""

from gluonish.core.module_names import alias_modules

alias_modules({"gluonish.io.io": "gluonish.io"})
