"""`mx.contrib.tensorrt`: NVIDIA's TensorRT, which is not supported yet."""

from gluonish.contrib.later import later

__all__ = ["get_use_fp16", "init_tensorrt_params", "set_use_fp16"]

_GPU = "until then a hybridized network runs on the GPU with cuDNN"

get_use_fp16 = later("contrib.tensorrt.get_use_fp16", _GPU)
init_tensorrt_params = later("contrib.tensorrt.init_tensorrt_params", _GPU)
set_use_fp16 = later("contrib.tensorrt.set_use_fp16", _GPU)
