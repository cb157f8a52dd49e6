"""Checkpoints in which the weights of cells stand gate by gate, so that any kind of cell can load them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..model import load_checkpoint, save_checkpoint
from .base import BaseRNNCell

Cells = BaseRNNCell | Sequence[BaseRNNCell]


def _listed(cells: Cells) -> Sequence[BaseRNNCell]:
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells: Cells, prefix: str, epoch: int, symbol: Any, arg_params: Mapping[str, Any],
                        aux_params: Mapping[str, Any]) -> None:
    """``model.save_checkpoint`` with the weights of the cells taken apart."""
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells: Cells, prefix: str, epoch: int) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """``model.load_checkpoint`` with the weights joined as the cells need them: (symbol, arg_params, aux_params)."""
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells: Cells, prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback for the end of an epoch that saves every ``period`` epochs."""
    period = int(max(1, period))

    def save(epoch: int, symbol: Any = None, arg_params: Any = None, aux_params: Any = None) -> None:
        if (epoch + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, epoch + 1, symbol, arg_params, aux_params)
    return save
