"""Makes `mx.image.image` a second name of `mx.image`: in MXNet it holds all but the detection."""

from gluonish.core.module_names import alias_modules

alias_modules({"gluonish.image.image": "gluonish.image"})
