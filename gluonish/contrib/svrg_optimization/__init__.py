"""`mx.contrib.svrg_optimization`: stochastic variance-reduced gradients."""

from gluonish.contrib.svrg_optimization import svrg_module, svrg_optimizer

__all__ = ["svrg_module", "svrg_optimizer"]
