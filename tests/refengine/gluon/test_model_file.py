"""Saving and loading whole models: the tree of blocks with its parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refengine as mx
from refengine.gluon import nn
from tests.refengine import releases

MAKE = """
def make(prefix):
    net = mx.gluon.nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(3, in_units=2), mx.gluon.nn.HybridSequential(prefix='q_'))
        net[1].add(mx.gluon.nn.Dense(2, in_units=3))
    return net
"""
exec(MAKE)
X = [[1.0, 2.0]]


def made(prefix: str, **kwargs: Any) -> Any:
    net = make(prefix)  # type: ignore[name-defined]  # noqa: F821
    if kwargs.pop('ready', False):
        net.initialize(mx.init.Xavier())
    net.hybridize(**kwargs)
    return net


@pytest.mark.parametrize('active', [False, True])
def test_there_and_back(tmp_path: Path, active: bool) -> None:
    net = made('m_', ready=True, active=active)
    y = net(mx.nd.array(X)).asnumpy()
    net.save(str(tmp_path / 'a'))
    assert sorted(path.name for path in tmp_path.iterdir()) == ['a-model.json', 'a-model.params']
    document = json.loads((tmp_path / 'a-model.json').read_text())['hybridsequential0']
    assert (document['orig_name'], document['hybridized']) == ('m', active)
    assert document['children'] == {'m_dense0': '0', 'm_q': '1'}
    assert ('symbol' in document) == active
    assert document['hybridsequential2']['dense3']['children'] == {}
    other = made('z_', active=False)
    other.load(str(tmp_path / 'a'))
    assert other._active == active
    np.testing.assert_array_equal(other(mx.nd.array(X)).asnumpy(), y)


def test_another_tree(tmp_path: Path) -> None:
    made('m_', ready=True, active=False).save(str(tmp_path / 'a'))
    for block, word in ((nn.Dense(3), 'expected a description of dense0'),
                        (nn.HybridSequential(), r"has children .*, expected \[\]")):
        with pytest.raises(ValueError, match=word):
            block.load(str(tmp_path / 'a'))
    with pytest.raises(FileNotFoundError):
        nn.Dense(3).load(str(tmp_path / 'b'))
    (tmp_path / 'c-model.json').write_text('{')
    with pytest.raises(ValueError, match='not a model'):
        nn.Dense(3).load(str(tmp_path / 'c'))


@pytest.mark.needs_mxnet
def test_models_of_the_release_and_for_it(tmp_path: Path) -> None:
    net = made('m_', ready=True)
    y = net(mx.nd.array(X)).asnumpy()
    net.save(str(tmp_path / 'ours'))
    text = releases.run('mxnet-1.9.1', f"""{MAKE}
net = make('z_')
net.load('ours')
print(net(mx.nd.array({X})).asnumpy().tolist())
net.save('theirs')
""", tmp_path)
    np.testing.assert_allclose(eval(text), y, rtol=1e-6)
    other = made('y_', active=False)
    other.load(str(tmp_path / 'theirs'))
    np.testing.assert_allclose(other(mx.nd.array(X)).asnumpy(), y, rtol=1e-6)
