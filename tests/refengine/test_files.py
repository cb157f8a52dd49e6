"""Files appear whole or not at all, whoever writes them."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import refengine as mx
from refengine import files, gluon, nd


def test_an_error_in_between_leaves_what_was_there(tmp_path: Path) -> None:
    name = tmp_path / 'data'
    name.write_bytes(b'old')
    with pytest.raises(TypeError), files.whole_file(name) as stream:
        stream.writelines([b'new', 3])  # type: ignore[list-item]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {'data': b'old'}


def test_links_are_followed_and_modes_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / 'target', tmp_path / 'link'
    target.write_bytes(b'old')
    target.chmod(0o600)
    link.symlink_to(target)
    with files.whole_file(link) as stream:
        stream.write(b'new')
    assert link.is_symlink()
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b'new', 0o600)


def test_a_pipe_is_written_not_replaced(tmp_path: Path) -> None:
    name = tmp_path / 'pipe'
    os.mkfifo(name)
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.append(name.read_bytes()))
    reader.start()
    mx.sym.var('x').save(str(name))
    reader.join(30)
    assert name.is_fifo()
    assert seen[0].startswith(b'{')


def _trained() -> tuple[Any, Any]:
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize()
    return net, gluon.Trainer(net.collect_params(), 'adam')


def _module() -> Any:
    symbol = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2), name='softmax')
    module = mx.mod.Module(symbol)
    module.bind([('data', (1, 3))], [('softmax_label', (1,))])
    module.init_params()
    module.init_optimizer(kvstore=None)
    return module


#: How each file is written, and the error of a system that refuses.
WRITERS: dict[str, tuple[Callable[[str], Any], type[Exception]]] = {
    'arrays': (lambda name: nd.save(name, [nd.ones(3)]), mx.MXNetError),
    'graph': (lambda name: mx.sym.var('x').save(name), mx.MXNetError),
    'parameters': (lambda name: _trained()[0].save_parameters(name), mx.MXNetError),
    'model': (lambda name: _trained()[0].save(name.removesuffix('-model.json')), Exception),
    'trainer_states': (lambda name: _trained()[1].save_states(name), OSError),
    'module_states': (lambda name: _module().save_optimizer_states(name), OSError),
}


@pytest.mark.parametrize('kind', WRITERS)
def test_a_full_disk_leaves_nothing_behind(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, error = WRITERS[kind]
    name = tmp_path / 'file-model.json'
    name.write_bytes(b'old')

    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, 'No space left on device')

    with monkeypatch.context() as patched:
        patched.setattr(files.os, 'replace', full)
        with pytest.raises(error, match='No space left on device'):
            write(str(name))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {'file-model.json': b'old'}
    write(str(name))
    assert name.read_bytes() != b'old'
