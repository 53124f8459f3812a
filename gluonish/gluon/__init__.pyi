from gluonish import model_zoo as model_zoo
from gluonish.gluon import block as block
from gluonish.gluon import contrib as contrib
from gluonish.gluon import data as data
from gluonish.gluon import loss as loss
from gluonish.gluon import metric as metric
from gluonish.gluon import nn as nn
from gluonish.gluon import parameter as parameter
from gluonish.gluon import probability as probability
from gluonish.gluon import rnn as rnn
from gluonish.gluon import trainer as trainer
from gluonish.gluon import utils as utils
from gluonish.gluon.block import Block as Block
from gluonish.gluon.block import HybridBlock as HybridBlock
from gluonish.gluon.block import SymbolBlock as SymbolBlock
from gluonish.gluon.parameter import Constant as Constant
from gluonish.gluon.parameter import DeferredInitializationError as DeferredInitializationError
from gluonish.gluon.parameter import Parameter as Parameter
from gluonish.gluon.parameter import ParameterDict as ParameterDict
from gluonish.gluon.parameter import tensor_types as tensor_types
from gluonish.gluon.trainer import Trainer as Trainer

__all__: list[str]
