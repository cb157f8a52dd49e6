"""Files of trained weights. They are only looked for on this machine: nothing is downloaded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...base import data_dir

_SUFFIX = '.params'

_model_sha1: dict[str, str] = {}
"""SHA-1 digests of files of weights by the name of their model; packages of models add theirs."""


def short_hash(name: str) -> str:
    """The first digits of a digest, which are part of the file's name; ValueError for a model that is not known."""
    if name not in _model_sha1:
        raise ValueError(f'Pretrained model for {name} is not available.')
    return _model_sha1[name][:8]


def default_root() -> str:
    """The folder where the release keeps its models: ``models`` below MXNET_HOME, which is ~/.mxnet if unset."""
    return str(Path(data_dir()) / 'models')


def get_model_file(name: str, root: Any = None) -> str:
    """The path of the weights of a model.

    ``root`` is a folder that holds ``NAME.params`` or ``NAME-xxxxxxxx.params`` (the release's way, with the first
    digits of the file's SHA-1), or the path of a ``.params`` file itself. Where the digest is known, the file of that
    digest comes first. FileNotFoundError if there is none, ValueError if there are several.
    """
    place = Path(default_root() if root is None else root).expanduser()
    if place.is_file():
        return str(place)
    plain = place / (name + _SUFFIX)
    if plain.is_file():
        return str(plain)
    hashed = place / f'{name}-{short_hash(name)}{_SUFFIX}' if name in _model_sha1 else None
    if hashed is not None and hashed.is_file():
        return str(hashed)
    pattern = re.compile(re.escape(name) + r'-[0-9a-f]{8}\.params')
    found = sorted(path for path in place.glob('*' + _SUFFIX) if pattern.fullmatch(path.name)) \
        if place.is_dir() else []
    if len(found) > 1:
        raise ValueError(f'several files hold weights of {name}: {", ".join(map(str, found))}; '
                         f'give one of them as root')
    if not found:
        raise FileNotFoundError(f'Pretrained weights of {name} are not on this machine: neither {plain} nor '
                                f'{place / name}-xxxxxxxx{_SUFFIX} exists. Weights are never downloaded; put the file '
                                f'there, or give root=FOLDER or root=FILE{_SUFFIX}.')
    return str(found[0])


def purge(root: Any = None) -> None:
    """Remove the files of weights from a folder."""
    place = Path(default_root() if root is None else root).expanduser()
    if place.is_dir():
        for path in place.glob('*' + _SUFFIX):
            path.unlink()


def load_pretrained(net: Any, name: str, pretrained: bool, ctx: Any, root: Any) -> Any:
    """The net, with weights from a file if ``pretrained``."""
    if pretrained:
        net.load_parameters(get_model_file(name, root), ctx=ctx)
    return net
