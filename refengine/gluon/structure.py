"""Nested lists of arrays as flat ones, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Form = Any
"""None for an absent argument, 0 for one array, n > 0 for a symbol of n outputs, a tuple for a list of forms."""


def flatten(value: Any, is_leaf: Callable[[Any], bool], what: str) -> tuple[list[Any], Form]:
    """The leaves in order, and the form to put them back; ValueError for anything but leaves in lists."""
    if value is None:
        return [], None
    if is_leaf(value):
        count = getattr(value, 'num_outputs', 1)
        return [value], count if count > 1 else 0
    if not isinstance(value, list | tuple):
        raise ValueError(f'When hybridized, the {what} of HybridBlock must be (nested) list of Symbol or NDArray, '
                         f'but got {value} of type {type(value)}')
    leaves: list[Any] = []
    forms = []
    for item in value:
        found, form = flatten(item, is_leaf, what)
        leaves += found
        forms.append(form)
    return leaves, tuple(forms)


def regroup(leaves: Sequence[Any], form: Form) -> Any:
    """The nested lists of a form, filled with leaves."""
    rest = list(leaves)
    return _take(rest, form)


def _take(rest: list[Any], form: Form) -> Any:
    if form is None:
        return None
    if isinstance(form, int):
        if form == 0:
            return rest.pop(0)
        return [rest.pop(0) for _ in range(form)]
    return [_take(rest, part) for part in form]


def _flatten(args: Any, inout_str: str) -> tuple[list[Any], Form]:
    """The leaves, None among them, and the form as programs of MXNet know it: nested lists, with -1 for None.

    >>> _flatten([None, [None]], 'input')
    ([None, None], [-1, [-1]])
    """
    from ..ndarray import NDArray
    if args is None:
        return [None], -1
    if not isinstance(args, list | tuple):
        return flatten(args, lambda x: isinstance(x, NDArray) or hasattr(x, 'list_outputs'), inout_str)
    parts = [_flatten(item, inout_str) for item in args]
    return [leaf for leaves, _ in parts for leaf in leaves], [form for _, form in parts]


def _regroup(args: Sequence[Any], fmt: Form) -> Any:
    """The nested lists of such a form, filled with leaves; IndexError if there are too few.

    >>> _regroup([1, None, 2], [0, [-1, 0]])
    [1, [None, 2]]
    """
    return _take_with_none(list(args), fmt)


def _take_with_none(rest: list[Any], fmt: Form) -> Any:
    if not isinstance(fmt, int):
        return [_take_with_none(rest, part) for part in fmt]
    if fmt > 0:
        return [rest.pop(0) for _ in range(fmt)]
    return rest.pop(0)
