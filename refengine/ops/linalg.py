"""Matrix products and decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import LateError, MXNetError, shape_text
from ..op import Bool, Enum, Float, Int, register
from ._matrices import matrices
from ._nn import unshared

_TRANSPOSE = {'transpose_a': Bool(False), 'transpose_b': Bool(False)}
_STYPE = {'forward_stype': Enum(('None', 'default', 'row_sparse', 'csr'), None)}


def _matrices(name: str, a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> tuple[Any, Any, tuple[int, ...]]:
    """The operands as matrices and the shape of the result; MXNetError naming both shapes (rule ND-DOT-002)."""
    if a.ndim == 0 or b.ndim == 0:
        raise MXNetError(f'Operator {name}: dot needs arrays of at least one dimension')
    if a.ndim == 1:
        left, lead = a.reshape(1, -1), ()
    elif transpose_a:
        left, lead = a.reshape(a.shape[0], -1).T, a.shape[1:]
    else:
        left, lead = a.reshape(-1, a.shape[-1]) if a.ndim > 2 else a, a.shape[:-1]
    if b.ndim == 1:
        right, rest = b.reshape(-1, 1), ()
    elif transpose_b:
        right, rest = b.reshape(-1, b.shape[-1]).T, b.shape[:-1]
    else:
        right, rest = b.reshape(b.shape[0], -1) if b.ndim > 2 else b, b.shape[1:]
    if left.shape[1] != right.shape[0]:
        raise MXNetError(f'Operator {name}: dot shape error: {shape_text(a.shape)} X {shape_text(b.shape)}')
    return left, right, (lead + rest) or (1,)


def _value(gradient: Any) -> Any:
    return gradient() if callable(gradient) else gradient


def _dot_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any]:
    a, b = inputs
    og = ograds[0]
    ta, tb = params.get('transpose_a', False) and a.ndim > 1, params.get('transpose_b', False) and b.ndim > 1
    if a.ndim > 2 or b.ndim > 2:
        # Through matrices, so that the rule below is enough.
        left = F.reshape(a, shape=(a.shape[0], -1) if ta else (-1, a.shape[-1])) if a.ndim > 1 else a
        right = F.reshape(b, shape=(-1, b.shape[-1]) if tb else (b.shape[0], -1)) if b.ndim > 1 else b
        rows = 1 if a.ndim == 1 else (left.shape[1] if ta else left.shape[0])
        columns = 1 if b.ndim == 1 else (right.shape[0] if tb else right.shape[1])
        shape: tuple[int, ...] = (rows, columns)
        if a.ndim == 1:
            shape = (columns,)
        elif b.ndim == 1:
            shape = (rows,)
        ga, gb = _dot_grad(F, [F.reshape(og, shape=shape)], (left, right), None, {'transpose_a': ta, 'transpose_b': tb})
        return lambda: F.reshape(_value(ga), shape=a.shape), lambda: F.reshape(_value(gb), shape=b.shape)
    if a.ndim == 1 and b.ndim == 1:
        return F._expand_like(og, b) * b, F._expand_like(og, a) * a
    if b.ndim == 1:
        column, row = F.reshape(og, shape=(-1, 1)), F.reshape(b, shape=(1, -1))
        ga = F.dot(F.reshape(b, shape=(-1, 1)), F.reshape(og, shape=(1, -1))) if ta else F.dot(column, row)
        return ga, F.dot(a, og) if ta else F.dot(a, og, transpose_a=True)
    if a.ndim == 1:
        gb = F.dot(F.reshape(og, shape=(-1, 1)), F.reshape(a, shape=(1, -1))) if tb else F.dot(
            F.reshape(a, shape=(-1, 1)), F.reshape(og, shape=(1, -1)))
        return F.dot(og, b) if tb else F.dot(b, og), gb
    def of_a() -> Any:
        return F.dot(b, og, transpose_a=tb, transpose_b=True) if ta else F.dot(og, b, transpose_b=not tb)

    def of_b() -> Any:
        return F.dot(og, a, transpose_a=True, transpose_b=ta) if tb else F.dot(a, og, transpose_a=not ta)

    return of_a, of_b


@register('dot', inputs=('lhs', 'rhs'), params={**_TRANSPOSE, **_STYPE}, grad=_dot_grad, samples=(
    (((2, 3), (3, 4)), {}), (((3, 2), (4, 3)), {'transpose_a': True, 'transpose_b': True}), (((3,), (3,)), {}),
    (((2, 3), (3,)), {}), (((3,), (3, 2)), {}), (((2, 3, 4), (4, 2)), {}), (((3, 2), (3, 4)), {'transpose_a': True}),
    (((2, 3), (4, 3)), {'transpose_b': True})), rules=('ND-DOT-001', 'ND-DOT-002', 'ND-DOT-003', 'ND-DOT-004'))
def _dot(xp: Any, lhs: Any, rhs: Any, transpose_a: bool = False, transpose_b: bool = False,
         forward_stype: Any = None, out: Any = None) -> Any:
    """The product of matrices and vectors: the last axis of the first with the first axis of the second."""
    left, right, shape = _matrices('dot', lhs, rhs, transpose_a, transpose_b)
    if lhs.dtype.kind != 'f' or (lhs.dtype.itemsize == 2 and xp is np):
        raise LateError(MXNetError('dot only supports float32/float64 for CPU, and float16/float32/float64 for GPU'),
                        (np.zeros(shape, lhs.dtype),))
    target = unshared(xp, out, shape, lhs.dtype, lhs, rhs)
    if target is not None and left.ndim == right.ndim == len(shape) == 2 and target.flags.c_contiguous:
        return xp.dot(left, right, out=target)
    result = xp.dot(left, right)
    return result if result.shape == shape else result.reshape(shape)


def _batch_dot_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any]:
    (a, b), og = inputs, ograds[0]
    ta, tb = params.get('transpose_a', False), params.get('transpose_b', False)
    ga = F.batch_dot(b, og, transpose_a=tb, transpose_b=True) if ta else F.batch_dot(og, b, transpose_b=not tb)
    gb = F.batch_dot(og, a, transpose_a=True, transpose_b=ta) if tb else F.batch_dot(a, og, transpose_a=not ta)
    return ga, gb


@register('batch_dot', inputs=('lhs', 'rhs'), params={**_TRANSPOSE, **_STYPE}, grad=_batch_dot_grad, samples=(
    (((2, 3, 4), (2, 4, 2)), {}), (((2, 4, 3), (2, 2, 4)), {'transpose_a': True, 'transpose_b': True})),
    rules=('ND-DOT-005',))
def _batch_dot(xp: Any, lhs: Any, rhs: Any, transpose_a: bool = False, transpose_b: bool = False,
               forward_stype: Any = None) -> Any:
    """Products of matrices in the last two axes, one per index of the leading axes."""
    if lhs.ndim < 3 or rhs.ndim != lhs.ndim:
        raise MXNetError(f'Operator batch_dot: batch_dot currently only support N-D*N-D array (N >= 3)'
                         f'{shape_text(lhs.shape)} v.s. {shape_text(rhs.shape)}')
    left = lhs.swapaxes(-1, -2) if transpose_a else lhs
    right = rhs.swapaxes(-1, -2) if transpose_b else rhs
    if lhs.shape[:-2] != rhs.shape[:-2] or left.shape[-1] != right.shape[-2]:
        raise MXNetError(f'Operator batch_dot: batch_dot shape error (shape mismatch): {shape_text(lhs.shape)} X '
                         f'{shape_text(rhs.shape)} trans_a={int(transpose_a)} trans_b={int(transpose_b)}')
    return xp.matmul(left, right)


# ---- the linalg name space -----------------------------------------------------------------------------------------

def _turn(x: Any, flag: bool) -> Any:
    return x.swapaxes(-1, -2) if flag else x


def _check_leading(name: str, a: Any, b: Any) -> None:
    if a.shape[:-2] != b.shape[:-2]:
        raise MXNetError(f'Operator {name}: Incompatible matrix dimensions: leading axes of {shape_text(a.shape)} and '
                         f'{shape_text(b.shape)} differ')


def _check_product(name: str, a: Any, b: Any, ta: bool, tb: bool) -> None:
    rows, columns = (a.shape[-2:][::-1] if ta else a.shape[-2:]), (b.shape[-2:][::-1] if tb else b.shape[-2:])
    if rows[1] != columns[0]:
        raise MXNetError(f'Operator {name}: Incompatible matrix dimensions for multiplication: {shape_text(a.shape)} '
                         f'and {shape_text(b.shape)}')
    _check_leading(name, a, b)


def _move_in(xp: Any, x: Any, axis: int) -> Any:
    if not 0 <= (axis + x.ndim if axis < 0 else axis) < x.ndim - 1:
        raise MXNetError(f'Invalid row axis ({axis}): the rows of matrices of shape {shape_text(x.shape)} may be any '
                         f'axis but the last, which holds the columns')
    return x if axis in (-2, x.ndim - 2) else xp.moveaxis(x, axis, -2)


def _move_out(xp: Any, x: Any, axis: int) -> Any:
    return x if axis in (-2, x.ndim - 2) else xp.moveaxis(x, -2, axis)


def _product_grad(F: Any, og: Any, a: Any, b: Any, params: Any) -> tuple[Any, Any]:
    ta, tb, scale = params['transpose_a'], params['transpose_b'], params['alpha']
    common = {'alpha': scale, 'axis': params.get('axis', -2)}
    if ta:
        ga = F.linalg_gemm2(b, og, transpose_a=tb, transpose_b=True, **common)
    else:
        ga = F.linalg_gemm2(og, b, transpose_b=not tb, **common)
    if tb:
        gb = F.linalg_gemm2(og, a, transpose_a=True, transpose_b=ta, **common)
    else:
        gb = F.linalg_gemm2(a, og, transpose_a=not ta, **common)
    return ga, gb


_GEMM = {'transpose_a': Bool(False), 'transpose_b': Bool(False), 'alpha': Float(1.0), 'axis': Int(-2)}


@matrices('_linalg_gemm2', 'linalg_gemm2', inputs=('A', 'B'), params=_GEMM, rules=('ND-DOT-006',),
          grad=lambda F, ograds, inputs, outputs, params: _product_grad(F, ograds[0], inputs[0], inputs[1], params),
          samples=((((2, 3), (3, 2)), {'alpha': 2.0}), (((2, 3, 2), (2, 4, 3)), {'transpose_a': True,
                                                                                 'transpose_b': True})))
def _gemm2(xp: Any, A: Any, B: Any, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0,
           axis: int = -2) -> Any:
    """alpha · op(A) · op(B) for matrices in the last two axes."""
    A, B = _move_in(xp, A, axis), _move_in(xp, B, axis)
    _check_product('_linalg_gemm2', A, B, transpose_a, transpose_b)
    result = xp.matmul(_turn(A, transpose_a), _turn(B, transpose_b))
    return _move_out(xp, result * A.dtype.type(alpha) if alpha != 1.0 else result, axis)


@matrices('_linalg_gemm', 'linalg_gemm', inputs=('A', 'B', 'C'), params={
    'transpose_a': Bool(False), 'transpose_b': Bool(False), 'alpha': Float(1.0), 'beta': Float(1.0), 'axis': Int(-2)},
    grad=lambda F, ograds, inputs, outputs, params: (
        *_product_grad(F, ograds[0], inputs[0], inputs[1], params), ograds[0] * params['beta']),
    samples=((((2, 3), (3, 2), (2, 2)), {'alpha': 2.0, 'beta': 0.5}),))
def _gemm(xp: Any, A: Any, B: Any, C: Any, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0,
          beta: float = 1.0, axis: int = -2) -> Any:
    """alpha · op(A) · op(B) + beta · C for matrices in the last two axes."""
    product = _gemm2(xp, A, B, transpose_a, transpose_b, alpha, axis)
    if C.shape != product.shape:
        raise MXNetError(f'Operator _linalg_gemm: Shape inconsistent, Provided = {shape_text(C.shape)}, inferred '
                         f'shape={shape_text(product.shape)}')
    return product + C * C.dtype.type(beta)


def _syrk_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    a, og = inputs[0], ograds[0]
    if params['transpose']:
        both = F.linalg_gemm2(a, og, alpha=params['alpha']), F.linalg_gemm2(a, og, transpose_b=True,
                                                                            alpha=params['alpha'])
    else:
        both = F.linalg_gemm2(og, a, alpha=params['alpha']), F.linalg_gemm2(og, a, transpose_a=True,
                                                                            alpha=params['alpha'])
    return (both[0] + both[1],)


@matrices('_linalg_syrk', 'linalg_syrk', inputs=('A',), params={'transpose': Bool(False), 'alpha': Float(1.0)},
          grad=_syrk_grad, samples=((((2, 3),), {}), (((2, 3),), {'transpose': True, 'alpha': 2.0})),
          rules=('ND-DOT-007',))
def _syrk(xp: Any, A: Any, transpose: bool = False, alpha: float = 1.0) -> Any:
    """alpha · A · Aᵀ, or alpha · Aᵀ · A with transpose."""
    other = A.swapaxes(-1, -2)
    return xp.matmul(other, A) * A.dtype.type(alpha) if transpose else xp.matmul(A, other) * A.dtype.type(alpha)


# ---- triangular matrices and decompositions ------------------------------------------------------------------------

def _lower(xp: Any, x: Any, lower: bool = True) -> Any:
    return xp.tril(x) if lower else xp.triu(x)


def _square(name: str, x: Any) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise MXNetError(f'Operator {name}: the input must be square matrices, got {shape_text(x.shape)}')


@matrices('_linalg_potrf', 'linalg_potrf', inputs=('A',), samples=((('posdef:3',), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (_potrf_grad(F, ograds[0], outputs[0]),))
def _potrf(xp: Any, A: Any) -> Any:
    """The lower Cholesky factor of positive definite matrices."""
    _square('_linalg_potrf', A)
    try:
        return xp.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        raise LateError(MXNetError('Cholesky factorization failed: the matrix is not positive definite'),
                        (np.zeros(A.shape, A.dtype),)) from None


def _potrf_grad(F: Any, og: Any, factor: Any) -> Any:
    inner = F.linalg_gemm2(factor, og, transpose_a=True)
    half = F._tril_half(inner)
    inverse = F.linalg_inverse(factor)
    whole = F.linalg_gemm2(F.linalg_gemm2(inverse, half, transpose_a=True), inverse)
    return (whole + F.swapaxes(whole, dim1=whole.ndim - 1, dim2=whole.ndim - 2)) * 0.5


@register('_tril_half', grad=lambda F, ograds, inputs, outputs, params: (F._tril_half(ograds[0]),))
def _tril_half(xp: Any, data: Any) -> Any:
    """The lower triangle with its diagonal halved."""
    return xp.tril(data) * (1 - 0.5 * xp.eye(data.shape[-1], dtype=data.dtype))


@matrices('_linalg_inverse', 'linalg_inverse', inputs=('A',), samples=((('posdef:3',), {}),),
          grad=lambda F, ograds, inputs, outputs, params: _inverse_grad(F, ograds, outputs))
def _inverse(xp: Any, A: Any) -> Any:
    """The inverse of matrices."""
    _square('_linalg_inverse', A)
    try:
        return xp.linalg.inv(A)
    except np.linalg.LinAlgError:
        raise LateError(MXNetError('the inverse of a singular matrix does not exist'),
                        (np.zeros(A.shape, A.dtype),)) from None


def _inverse_grad(F: Any, ograds: Any, outputs: Any) -> tuple[Any]:
    return (-F.linalg_gemm2(F.linalg_gemm2(outputs[0], ograds[0], transpose_a=True), outputs[0], transpose_b=True),)


@register('_inverse_or_zero', grad=lambda F, ograds, inputs, outputs, params: _inverse_grad(F, ograds, outputs))
def _inverse_or_zero(xp: Any, data: Any) -> Any:
    """The inverses of matrices, and zeros for those that have none: of a determinant of 0 nothing is passed back."""
    singular = (xp.linalg.det(data) == 0)[..., None, None]
    safe = xp.where(singular, xp.eye(data.shape[-1], dtype=data.dtype), data)
    return xp.where(singular, data.dtype.type(0), xp.linalg.inv(safe))


@matrices('_linalg_potri', 'linalg_potri', inputs=('A',), samples=((('posdef:3',), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (_potri_grad(F, ograds[0], inputs[0]),))
def _potri(xp: Any, A: Any) -> Any:
    """The inverse of a positive definite matrix from its lower Cholesky factor."""
    _square('_linalg_potri', A)
    half = xp.linalg.inv(xp.tril(A))
    return xp.matmul(half.swapaxes(-1, -2), half)


def _potri_grad(F: Any, og: Any, A: Any) -> Any:
    factor = F._triangle(A)
    inverse = F.linalg_inverse(factor)
    both = og + F.swapaxes(og, dim1=og.ndim - 1, dim2=og.ndim - 2)
    g = F.linalg_gemm2(inverse, both)
    g = -F.linalg_gemm2(F.linalg_gemm2(inverse, g, transpose_a=True), inverse, transpose_b=True)
    return F._triangle(g)


@register('_triangle', params={'lower': Bool(True)},
          grad=lambda F, ograds, inputs, outputs, params: (F._triangle(ograds[0], lower=params['lower']),))
def _triangle(xp: Any, data: Any, lower: bool = True) -> Any:
    """One triangle of matrices, the other zero."""
    return _lower(xp, data, lower)


_TRIANGULAR = {'transpose': Bool(False), 'rightside': Bool(False), 'lower': Bool(True), 'alpha': Float(1.0)}


def _trmm_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any]:
    (A, B), og, p = inputs, ograds[0], params
    gb = F.linalg_trmm(A, og, transpose=not p['transpose'], rightside=p['rightside'], lower=p['lower'],
                       alpha=p['alpha'])
    left, right = (B, og) if p['rightside'] else (og, B)
    if p['rightside']:
        ga = F.linalg_gemm2(og, B, transpose_a=True, alpha=p['alpha']) if p['transpose'] else F.linalg_gemm2(
            left, right, transpose_a=True, alpha=p['alpha'])
    else:
        ga = F.linalg_gemm2(B, og, transpose_b=True, alpha=p['alpha']) if p['transpose'] else F.linalg_gemm2(
            left, right, transpose_b=True, alpha=p['alpha'])
    return F._triangle(ga, lower=p['lower']), gb


@matrices('_linalg_trmm', 'linalg_trmm', inputs=('A', 'B'), params=_TRIANGULAR, grad=_trmm_grad, samples=(
    (((3, 3), (3, 2)), {'alpha': 2.0}), (((3, 3), (2, 3)), {'rightside': True, 'transpose': True}),
    (((3, 3), (3, 2)), {'transpose': True, 'lower': False}), (((3, 3), (2, 3)), {'rightside': True})))
def _trmm(xp: Any, A: Any, B: Any, transpose: bool = False, rightside: bool = False, lower: bool = True,
          alpha: float = 1.0) -> Any:
    """The product of a triangular matrix and another one."""
    _square('_linalg_trmm', A)
    _check_leading('_linalg_trmm', A, B)
    factor = _turn(_lower(xp, A, lower), transpose)
    return (xp.matmul(B, factor) if rightside else xp.matmul(factor, B)) * A.dtype.type(alpha)


def _trsm_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any]:
    A, X, og, p = inputs[0], outputs[0], ograds[0], params
    side = {'rightside': p['rightside'], 'lower': p['lower']}
    gb = F.linalg_trsm(A, og, transpose=not p['transpose'], alpha=1.0, **side)
    if p['rightside']:
        ga = F.linalg_gemm2(gb, X, transpose_a=True) if p['transpose'] else F.linalg_gemm2(X, gb, transpose_a=True)
    else:
        ga = F.linalg_gemm2(X, gb, transpose_b=True) if p['transpose'] else F.linalg_gemm2(gb, X, transpose_b=True)
    return F._triangle(-ga, lower=p['lower']), gb * p['alpha']


@matrices('_linalg_trsm', 'linalg_trsm', inputs=('A', 'B'), params=_TRIANGULAR, grad=_trsm_grad, samples=(
    (('posdef:3', (3, 2)), {'alpha': 2.0}), (('posdef:3', (2, 3)), {'rightside': True, 'transpose': True}),
    (('posdef:3', (3, 2)), {'transpose': True, 'lower': False}), (('posdef:3', (2, 3)), {'rightside': True})))
def _trsm(xp: Any, A: Any, B: Any, transpose: bool = False, rightside: bool = False, lower: bool = True,
          alpha: float = 1.0) -> Any:
    """The solution of linear systems with a triangular matrix."""
    _square('_linalg_trsm', A)
    _check_leading('_linalg_trsm', A, B)
    factor = _turn(_lower(xp, A, lower), transpose)
    scaled = B * B.dtype.type(alpha)
    if rightside:
        return _turn(xp.linalg.solve(_turn(factor, True), _turn(scaled, True)), True)
    return xp.linalg.solve(factor, scaled)


@matrices('_linalg_sumlogdiag', 'linalg_sumlogdiag', inputs=('A',), samples=((('posdef:3',), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (_sumlogdiag_grad(F, ograds[0], inputs[0]),))
def _sumlogdiag(xp: Any, A: Any) -> Any:
    """The sum of the logarithms of the diagonal."""
    _square('_linalg_sumlogdiag', A)
    result = xp.log(xp.diagonal(A, axis1=-2, axis2=-1)).sum(axis=-1)
    return xp.asarray(result).reshape(A.shape[:-2] or (1,))


def _sumlogdiag_grad(F: Any, og: Any, A: Any) -> Any:
    inverse = 1 / F.linalg_extractdiag(A)
    spread = F.reshape(og, shape=(*A.shape[:-2], 1))
    return F.linalg_makediag(F.broadcast_mul(inverse, spread))


@matrices('_linalg_extractdiag', 'linalg_extractdiag', inputs=('A',), params={'offset': Int(0)},
          samples=((((3, 3),), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (F.linalg_makediag(ograds[0], offset=params['offset']),))
def _extractdiag(xp: Any, A: Any, offset: int = 0) -> Any:
    """A diagonal of square matrices."""
    return xp.diagonal(A, offset, -2, -1).copy()


@matrices('_linalg_makediag', 'linalg_makediag', ndim=1, inputs=('A',), params={'offset': Int(0)},
          samples=((((2, 3),), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (F.linalg_extractdiag(ograds[0], offset=params['offset']),))
def _makediag(xp: Any, A: Any, offset: int = 0) -> Any:
    """Square matrices with given diagonals."""
    size = A.shape[-1] + abs(offset)
    result = xp.zeros(A.shape[:-1] + (size, size), A.dtype)
    rows = xp.arange(A.shape[-1])
    result[..., rows + max(-offset, 0), rows + max(offset, 0)] = A
    return result


@matrices('_linalg_det', 'linalg_det', inputs=('A',), samples=((('posdef:3',), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (_det_grad(F, ograds[0] * outputs[0], inputs[0]),))
def _det(xp: Any, A: Any) -> Any:
    """The determinant."""
    _square('_linalg_det', A)
    return xp.asarray(xp.linalg.det(A)).reshape(A.shape[:-2] or (1,))


def _det_grad(F: Any, weight: Any, A: Any) -> Any:
    turned = F.swapaxes(F._inverse_or_zero(A), dim1=A.ndim - 1, dim2=A.ndim - 2)
    return F.broadcast_mul(turned, F.reshape(weight, shape=(*A.shape[:-2], 1, 1)))


@matrices('_linalg_slogdet', 'linalg_slogdet', inputs=('A',), num_outputs=2, samples=((('posdef:3',), {}),),
          grad=lambda F, ograds, inputs, outputs, params: (_det_grad(F, ograds[1], inputs[0]),))
def _slogdet(xp: Any, A: Any) -> Any:
    """The sign and the logarithm of the size of the determinant."""
    _square('_linalg_slogdet', A)
    sign, size = xp.linalg.slogdet(A)
    shape = A.shape[:-2] or (1,)
    return xp.asarray(sign).reshape(shape), xp.asarray(size).reshape(shape)
