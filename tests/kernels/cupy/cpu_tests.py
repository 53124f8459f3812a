"""Tests of default_gpu.py's selection that by their meaning need the CPU, and why."""

__all__ = ["CPU_TESTS"]

_NAMES_CPU = "compares with cpu(0), which it takes for the default context"
_HOST = "an array's values lie in memory that NumPy shares"
_FILES = "files are loaded to the CPU unless told otherwise, as MXNet does"
_IMPORTED = "its arrays are made when the module is imported, on the CPU"
_WORKERS = "work on a CPU waits in threads of the engine; that on a GPU is launched by the caller"
_FAST = "looks at kernels, layouts or passes that only the CPU has"
_COUNTS = "MXNet's file has the updates of device 0, and every device counts its own"
_KEY = "the random numbers asked for are those of device 0"
_THREADS = "its threads start in the CPU's context, as every thread does"
_MEMORY = "a GPU's memory comes back by a destructor, in which an interrupt is only printed"

# Parts of node ids.
CPU_TESTS: dict[str, str] = {
    "ndarray/sparse/test_array.py::test_sparse_array_is_an_ndarray_with_the_facts": _NAMES_CPU,
    "ndarray/sparse/test_array.py::test_repr_tells_class_and_shape": _NAMES_CPU,
    "ndarray/test_copying.py": _NAMES_CPU,
    "ndarray/test_creation.py::test_array_of_an_array_keeps_its_dtype_and_copies": _NAMES_CPU,
    "ndarray/test_dlpack.py": _HOST,
    "ndarray/test_eager.py::test_arrays_on_different_devices_are_refused": _NAMES_CPU,
    "ndarray/test_eager.py::test_result_without_memory_is_an_error_with_its_size": _NAMES_CPU,
    "ndarray/test_file_formats.py::test_arrays_that_are_not_aligned_are_copied": _HOST,
    "ndarray/test_file_formats.py::test_large_arrays_stay_in_the_file": _HOST,
    "ndarray/test_inplace.py::test_operand_that_would_grow_the_array_is_refused": _IMPORTED,
    "ndarray/test_memory_layout.py": _FAST,
    "ndarray/test_sync_batch_norm.py": _NAMES_CPU,
    "metric/test_waiting.py": _WORKERS,
    "block/test_block.py::test_blocks_run_in_several_threads": _THREADS,
    "block/test_collecting.py::test_they_are_saved_by_path_and_exported_by_name": _FILES,
    "block/test_file_formats.py::test_parameters_without_values_and_gradients_stay": _HOST,
    "block/test_file_formats.py::test_prefixes_say_the_format_of_exported_parameters": _FILES,
    "block/test_file_formats.py::test_training_on_loaded_parameters_is": _FILES,
    "block/test_files.py::test_unknown_shapes_come_from_the_file": _FILES,
    "block/test_files.py::test_full_names_may_have_dots": _FILES,
    "block/test_hybrid_block.py::test_a_layer_whose_shape_was_deferred_is_exported": _FILES,
    "block/test_hybrid_block.py::test_eight_threads_get_what_one_gets": _THREADS,
    "block/test_hybrid_block.py::test_inputs_on_two_devices_are_refused": _NAMES_CPU,
    "block/test_hybrid_block.py::test_parameters_may_be_initialized_again_elsewhere": _NAMES_CPU,
    "block/test_model_files.py": _FILES,
    "block/test_symbol_block.py": _FILES,
    "block/test_partitioning.py": _IMPORTED,
    "block/test_tracing.py::test_a_block_in_the_style_of_2_0_computes_with_numpy": _FILES,
    "block/test_tracing.py::test_both_styles_mix_and_are_exported": _FILES,
    "nn/test_hybrid_equals_imperative.py": _NAMES_CPU,
    "nn/test_concurrent.py::test_hybridized_equals_imperative": _THREADS,
    "nn/test_hybrid_threads.py": _THREADS,
    "optimizer/test_states.py": _COUNTS,
    "trainer/test_state_transfer.py": _NAMES_CPU,
    "optimizer/test_updater.py::test_training_goes_on_from_mxnets_states": _COUNTS,
    "autograd/test_gradient_plan.py::test_plans_give_what_rules_give": _FAST,
    "recurrent/test_rnn_layer.py::test_mxnets_": _FILES,
    "block/test_inputs.py::test_arrays_on_several_devices_are_a_value_error": _NAMES_CPU,
    "block/test_inputs.py::test_forward_called_by_itself_makes_the_graph": _FILES,
    "block/test_parameter_classes.py::test_an_array_of_a_parameter_may_be_replaced": _NAMES_CPU,
    "graph/test_cached_graph.py::test_interrupt_finds_no_place": _MEMORY,
    "parameter/test_golden.py": _NAMES_CPU,
    "symbol/test_subgraph.py::test_a_function_has_a_gradient": _NAMES_CPU,
    "symbol/test_subgraph.py::test_states_come_last_and_can_be_moved": _NAMES_CPU,
    "graph/test_control_flow.py::test_an_exported_block_computes_the_same": _FILES,
    "numpy/test_array.py::test_array_prints_as_numpy_does": _NAMES_CPU,
    "numpy/test_blocks.py::test_exported_network_comes_back": _FILES,
    "numpy/test_methods.py::test_recorded_add_makes_few_python_calls": _FAST,
    "graph/test_cached_graph.py::test_eight_threads_get_what_one_gets": _THREADS,
    "graph/test_chains.py": _FAST,
    "graph/test_executable.py": _NAMES_CPU,
    "graph/test_fused_networks.py::test_training_gives_the_outputs": _FAST,
    "graph/test_batch_norm_relu_plans.py": _FAST,
    "graph/test_dynamic.py::test_symbolic_block_can_be_exported": _FILES,
    "graph/test_numpy_networks.py::test_masks_of_bool_are_fused": _FAST,
    "graph/test_prologue.py": _NAMES_CPU,
    "graph/test_overlay.py::test_threads_with_several_states": _THREADS,
    "parameter/test_parameter.py::TestLoading::test_other_devices_are_refused": _NAMES_CPU,
    "graph/test_cached_graph.py::test_arrays_on_several_devices_are_refused": _NAMES_CPU,
    "graph/test_interpreter.py::test_gradients_repeat_the_random_numbers_of_the_call": _KEY,
    "graph/test_pass_switches.py::test_every_pass_changes_a_plan": _FAST,
    "graph/test_segment_use.py": _NAMES_CPU,
    "graph/test_strided_views.py::test_products_read_and_write_in_place": _FAST,
    "symbol/test_subgraph.py::test_a_parameter_can_be_added": _IMPORTED,
    "kvstore/test_transfer.py::test_priority_reaches_the_engine": _NAMES_CPU,
    "parameter/test_in_hybridized_blocks.py::test_constant_is_exported_and_saved": _FILES,
    "parameter/test_in_hybridized_blocks.py::test_network_moves_to_other_devices": _NAMES_CPU,
    "parameter/test_parameter.py::test_device_without_the_parameter_is_refused": _NAMES_CPU,
    "numpy/test_array.py::test_scalar_array_formats_as_its_number": _NAMES_CPU,
    "numpy/test_protocol.py::test_conversions_to_numpy_are_copies_or_share": _HOST,
    "numpy/test_array.py::test_format_of_a_number_is_that_of_its_value": _NAMES_CPU,
}
