"""``nd.npx.image``: ``mx.npx.image``."""

import gluonish.numpy_extension.image as image

__getattr__, __dir__ = vars(image)["__getattr__"], vars(image)["__dir__"]
