"""Which operators compute in which precision under mixed precision; names that this engine lacks are skipped."""

from __future__ import annotations

LOW_PRECISION = ('Convolution', 'Deconvolution', 'FullyConnected', 'RNN')
"""Always in the low precision type: the operators that spend their time in matrix products."""

FLOAT32 = (
    'Convolution_v1', 'CTCLoss', 'Custom', 'GroupNorm', 'InstanceNorm', 'L2Normalization', 'LRN', 'LayerNorm',
    'SoftmaxActivation', 'SoftmaxOutput', 'LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput',
    'SVMOutput', '_power', '_power_scalar', '_rpower_scalar', 'broadcast_power', 'arccos', 'arccosh', 'arcsin',
    'arctanh', 'cosh', 'sinh', 'tan', 'erfinv', 'exp', 'expm1', 'gamma', 'gammaln', 'log', 'log10', 'log1p', 'log2',
    'log_softmax', 'softmax', 'softmin', 'softmax_cross_entropy', 'smooth_l1', 'mean', 'sum', 'sum_axis', 'nansum',
    'prod', 'nanprod', 'norm', 'cumsum', 'rsqrt', 'rcbrt', 'reciprocal', 'square', 'batch_norm_stats', 'MakeLoss',
    '_rdiv_scalar', '_linalg_gemm', '_linalg_gemm2', '_linalg_potrf', '_linalg_potri', '_linalg_trmm', '_linalg_trsm',
    '_linalg_sumlogdiag', '_linalg_syrk', '_linalg_gelqf', '_linalg_syevd', '_linalg_inverse', '_linalg_det',
    '_linalg_slogdet',
)
"""Always in float32: what over- or underflows, or adds up many values."""

CONDITIONAL_FLOAT32 = (
    ('Activation', 'act_type', ('softrelu',)),
    ('LeakyReLU', 'act_type', ('elu', 'selu')),
)
"""In float32 when a parameter has one of these values."""

WIDEST = (
    'Concat', 'add_n', 'batch_dot', 'dot', 'stack', 'where', 'elemwise_add', 'elemwise_sub', 'elemwise_mul',
    'elemwise_div', 'broadcast_add', 'broadcast_sub', 'broadcast_mul', 'broadcast_div', 'broadcast_mod',
    'broadcast_maximum', 'broadcast_minimum', 'broadcast_hypot', 'broadcast_equal', 'broadcast_not_equal',
    'broadcast_greater', 'broadcast_greater_equal', 'broadcast_lesser', 'broadcast_lesser_equal',
    'broadcast_logical_and', 'broadcast_logical_or', 'broadcast_logical_xor',
)
"""In the widest floating point type among the inputs."""
