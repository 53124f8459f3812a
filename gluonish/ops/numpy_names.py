"""Names that MXNet 2.0 added to operators of 1.9: functions of `npx`, and nodes of its files."""

from collections.abc import Mapping

__all__ = ["ADDED_NAMES", "NPX_PREFIX"]

NPX_PREFIX = "_npx_"

# Names in `npx` by registry name.
_NPX_NAMES = {
    "BlockGrad": "stop_gradient",
    "CTCLoss": "ctc_loss",
    "InstanceNorm": "instance_norm",
    "Pad": "pad",
    "SequenceLast": "sequence_last",
    "SequenceReverse": "sequence_reverse",
    "SliceChannel": "slice_channel",
    "_contrib_DeformableConvolution": "deformable_convolution",
    "_contrib_ModulatedDeformableConvolution": "modulated_deformable_convolution",
    "_contrib_SyncBatchNorm": "sync_batch_norm",
    "_contrib_bipartite_matching": "bipartite_matching",
    "_contrib_box_decode": "box_decode",
    "_contrib_box_encode": "box_encode",
    "_contrib_box_iou": "box_iou",
    "_contrib_box_nms": "box_nms",
    "_contrib_calibrate_entropy": "contrib_calibrate_entropy",
    "_contrib_interleaved_matmul_encdec_qk": "interleaved_matmul_encdec_qk",
    "_contrib_interleaved_matmul_encdec_valatt": "interleaved_matmul_encdec_valatt",
    "_contrib_interleaved_matmul_selfatt_qk": "interleaved_matmul_selfatt_qk",
    "_contrib_interleaved_matmul_selfatt_valatt": "interleaved_matmul_selfatt_valatt",
    "_contrib_intgemm_fully_connected": "intgemm_fully_connected",
    "_contrib_intgemm_maxabsolute": "intgemm_maxabsolute",
    "_contrib_intgemm_prepare_data": "intgemm_prepare_data",
    "_contrib_intgemm_prepare_weight": "intgemm_prepare_weight",
    "_contrib_intgemm_take_weight": "intgemm_take_weight",
    "_contrib_quantize": "contrib_quantize",
    "_contrib_quantize_v2": "contrib_quantize_v2",
    "_contrib_quantized_act": "quantized_act",
    "_contrib_quantized_conv": "quantized_conv",
    "_contrib_quantized_elemwise_add": "quantized_elemwise_add",
    "_contrib_quantized_elemwise_mul": "quantized_elemwise_mul",
    "_contrib_quantized_embedding": "quantized_embedding",
    "_contrib_quantized_flatten": "quantized_flatten",
    "_contrib_quantized_fully_connected": "quantized_fully_connected",
    "_contrib_quantized_pooling": "quantized_pooling",
    "_contrib_quantized_rnn": "contrib_quantized_rnn",
    "_contrib_requantize": "requantize",
    "_contrib_round_ste": "round_ste",
    "_contrib_sign_ste": "sign_ste",
    "_sample_poisson": "tensor_poisson",
    "add_n": "add_n",
    "broadcast_greater": "broadcast_greater",
    "broadcast_like": "broadcast_like",
    "norm": "norm",
    "slice_like": "slice_like",
    "softsign": "softsign",
}

# Additional registry names by registry name.
ADDED_NAMES: Mapping[str, tuple[str, ...]] = {
    **{registered: (NPX_PREFIX + name,) for registered, name in _NPX_NAMES.items()},
    "_random_poisson": ("_npx_scalar_poisson",),
}
