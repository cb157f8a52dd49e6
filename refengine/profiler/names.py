"""The names under which Apache MXNet 1.9.1 shows in traces and tables what this engine calls otherwise.

What a release shows was observed with its own profiler, operator by operator;
``tests/refengine/profiler/test_names.py`` does so again where a release is at hand.
"""

from __future__ import annotations

FORWARD = {'cast': 'Cast', 'cumsum': '_np_cumsum', 'pad': 'Pad', 'reshape': 'Reshape', 'swapaxes': 'SwapAxis'}
"""Operators whose name in the registry of the release is not the one that programs call them by."""

_COPIED = ('_copy', '_contrib_round_ste', '_contrib_sign_ste', '_image_adjust_lighting', '_image_flip_left_right',
           '_image_flip_top_bottom', '_minus_scalar', '_plus_scalar', 'add_n', 'cast_storage', 'elemwise_add')
"""Operators that hand the gradient on as it is: to the release that is a copy."""

BACKWARD = {
    **dict.fromkeys(_COPIED, '_copy'),
    **dict.fromkeys(('_contrib_DeformableConvolution', '_contrib_DeformablePSROIPooling', '_contrib_PSROIPooling',
                     '_contrib_ModulatedDeformableConvolution', '_contrib_MultiBoxDetection', '_contrib_MultiBoxPrior',
                     '_contrib_MultiBoxTarget', '_contrib_MultiProposal', '_contrib_Proposal', '_contrib_SyncBatchNorm',
                     '_contrib_count_sketch', '_contrib_fft', '_contrib_ifft'), '_backward_{}'),
    **dict.fromkeys(('_contrib_ROIAlign', '_contrib_RROIAlign', '_contrib_interleaved_matmul_encdec_qk',
                     '_contrib_interleaved_matmul_encdec_valatt', '_contrib_interleaved_matmul_selfatt_qk',
                     '_contrib_interleaved_matmul_selfatt_valatt'), '_backward_{plain}'),
    **dict.fromkeys(('_contrib_gradientmultiplier', '_contrib_hawkesll', '_contrib_index_copy', '_contrib_quadratic'),
                    '_contrib_backward_{plain}'),
    'CTCLoss': '_backward_ctc_loss',
    'Flatten': '_backward_copy',
    'LinearRegressionOutput': '_backward_linear_reg_out',
    'LogisticRegressionOutput': '_backward_logistic_reg_out',
    'MAERegressionOutput': '_backward_mae_reg_out',
    '_basic_index': '_backward_slice',
    '_contrib_div_sqrt_dim': '_contrib_div_sqrt_dim',
    '_copyto': 'CopyCPU2CPU',
    '_rminus_scalar': 'negative',
    '_rnn_param_concat': '_backward_Concat',
    '_split_v2': '_split_v2_backward',
    'broadcast_axis': '_broadcast_backward',
    'broadcast_like': '_broadcast_backward',
    'broadcast_to': '_broadcast_backward',
    'cumsum': '_backward_np_cumsum',
    'elemwise_div': '_backward_div',
    'elemwise_mul': '_backward_mul',
    'elemwise_sub': '_backward_sub',
    'exp': 'elemwise_mul',
    'expand_dims': '_backward_reshape',
    'make_loss': 'ones_like',
    'negative': 'negative',
    'pad': '_backward_Pad',
    'reshape_like': '_backward_copy',
    'sort': '_backward_topk',
    'swapaxes': '_backward_SwapAxis',
}
"""Gradients of operators, where the name is not ``_backward_`` and that of the operator."""

PARTS = frozenset({'batch_dot', 'depth_to_space', 'scatter_nd', 'space_to_depth', 'transpose'})
"""Operators whose gradient consists of calls of operators, which the release shows one by one, as this engine does."""

ZEROS = 'zeros_like'
"""Gradients that are zero whatever the arrays hold."""

SUM = 'add_n'
"""Adding up the gradients of an array that was used more than once."""

KERNELS = {
    'sgd': 'sgd_update', 'sgd_momentum': 'sgd_mom_update', 'nag': 'nag_mom_update', 'signsgd': 'signsgd_update',
    'signum': 'signum_update', 'adam': 'adam_update', 'adamw': '_multi_adamw_update',
    'adabelief': '_multi_adabelief_update', 'rmsprop': 'rmsprop_update', 'rmsprop_centered': 'rmspropalex_update',
    'ftrl': 'ftrl_update', 'ftml': 'ftml_update', 'lamb': '_multi_lamb_update', 'lans': '_multi_lans_update',
    'group_adagrad': '_contrib_group_adagrad_update',
    # Several operators one after the other in the releases, where this engine has a kernel.
    'adagrad': 'adagrad_update', 'adadelta': 'adadelta_update', 'adamax': 'adamax_update', 'nadam': 'nadam_update',
    'dcasgd': 'dcasgd_update',
}  # fmt: skip
"""The update of one weight, by the name of its rule."""

SEVERAL = {name: 'multi_' + name for name in ('sgd_update', 'sgd_mom_update')}
"""One call that updates several weights."""

HALF = {
    **{name: 'mp_' + name for name in ('sgd_update', 'sgd_mom_update', 'nag_mom_update')},
    **{'multi_' + name: 'multi_mp_' + name for name in ('sgd_update', 'sgd_mom_update')},
    **{f'_multi_{name}_update': f'_multi_mp_{name}_update' for name in ('lamb', 'lans')},
}
"""An update of float16 weights through their float32 copies."""


def forward(name: str) -> str:
    """What the release calls an operator."""
    return FORWARD.get(name, name)


def backward(name: str) -> str:
    """What the release calls the gradient of an operator.

    >>> backward('FullyConnected'), backward('_mul_scalar'), backward('_contrib_box_nms'), backward('elemwise_mul')
    ('_backward_FullyConnected', '_backward_mul_scalar', '_backward_contrib_box_nms', '_backward_mul')
    """
    pattern = BACKWARD.get(name)
    if pattern is None:
        plain = name.removeprefix('_random_') if name.startswith('_random_pdf_') else name.lstrip('_')
        return f'_backward_{plain}'
    return pattern.format(name, plain=name.removeprefix('_contrib_'))
