"""Libraries of compiled operators: what loading checks, and calls through the C interface."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import refengine as mx
from refengine import autograd, library, nd
from refengine.op import registry

SOURCE = os.path.join(os.path.dirname(__file__), 'operators.c')
COMPILER = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
needs_compiler = pytest.mark.skipif(COMPILER is None, reason='needs a C compiler')


def built(folder, version=11):
    path = str(folder / f'libt{version}.so')
    subprocess.run([COMPILER, '-shared', '-fPIC', '-O1', f'-DVERSION={version}', SOURCE, '-o', path], check=True,
                   timeout=120)
    return path


@pytest.fixture(scope='module')
def loaded(tmp_path_factory):
    path, before = built(tmp_path_factory.mktemp('library')), set(registry)
    mx.library.load(path, verbose=False)
    yield path
    for name in set(registry) - before:     # other tests look at every operator that there is
        del registry[name]


@pytest.mark.parametrize(('name', 'text'), [
    ('missing.so', 'does NOT exist'), ('text.txt', 'is NOT a library file'), ('empty.so', 'Error loading library')])
def test_paths_are_checked(tmp_path, name, text):
    (tmp_path / 'text.txt').write_text('')
    (tmp_path / 'empty.so').write_text('')
    with pytest.raises(mx.MXNetError, match=text):
        mx.library.load(str(tmp_path / name))


def test_a_relative_path_is_refused(tmp_path, monkeypatch):
    (tmp_path / 'empty.so').write_text('')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mx.MXNetError, match='is not an absolute path'):
        mx.library.load('empty.so')


@needs_compiler
def test_a_library_of_another_kind_or_version_is_refused(tmp_path):
    other = tmp_path / 'other.c'
    other.write_text('int answer(void) { return 42; }\n')
    path = str(tmp_path / 'libother.so')
    subprocess.run([COMPILER, '-shared', '-fPIC', str(other), '-o', path], check=True, timeout=120)
    with pytest.raises(mx.MXNetError, match='no entry point _opVersion'):
        mx.library.load(path)
    with pytest.raises(mx.MXNetError, match='version of lib_api.h is 3, expected 11'):
        mx.library.load(built(tmp_path, 3))


@needs_compiler
def test_operators_are_functions_of_both_front_ends(loaded, capsys):
    assert loaded in library.loaded_libs()
    x = nd.array([1.0, 2.0, 3.0])
    assert nd.t_scaled_square(x).asnumpy().tolist() == [2, 8, 18]
    assert nd.t_scaled_square(x, k=3).asnumpy().tolist() == [3, 12, 27]
    symbol = mx.sym.t_scaled_square(mx.sym.Variable('a'), k=4)
    assert symbol.eval(a=x)[0].asnumpy().tolist() == [4, 16, 36]
    mx.library.load(loaded)
    assert 't_scaled_square' in mx.operator.get_all_registered_operators()


@needs_compiler
def test_gradients(loaded):
    x = nd.array([[1.0, 2.0], [3.0, 4.0]])
    x.attach_grad()
    with autograd.record():
        y = nd.t_scaled_square(x.T * 2, k=3)
    y.backward(nd.array([[1.0, 10.0], [100.0, 1000.0]]))
    assert y.asnumpy().tolist() == [[12, 108], [48, 192]]
    assert x.grad.asnumpy().tolist() == [[24, 4800], [720, 96000]]
    with autograd.record():
        slope = autograd.grad(nd.t_scaled_square(x), x, create_graph=True)
    with pytest.raises(mx.MXNetError, match='_backward_t_scaled_square is non-differentiable'):
        slope.backward()
    with autograd.record():
        half = nd.t_two_halves(x)[0]
    with pytest.raises(mx.MXNetError, match='t_two_halves is non-differentiable'):
        half.backward()


@needs_compiler
def test_several_outputs_and_hybridized_blocks(loaded):
    first, second = nd.t_two_halves(nd.arange(6))
    assert [first.asnumpy().tolist(), second.asnumpy().tolist()] == [[0, 1, 2], [3, 4, 5]]

    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.t_scaled_square(x, k=1) + 1

    net = Net()
    net.hybridize()
    x = nd.array([2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    assert y.asnumpy().tolist() == [5, 10]
    assert x.grad.asnumpy().tolist() == [4, 6]


@needs_compiler
@pytest.mark.parametrize(('call', 'text'), [
    (lambda: nd.t_scaled_square(nd.ones(2), bad=1), 'there is no parameter bad'),
    (lambda: nd.t_scaled_square(nd.ones(2, dtype='float64')), 'only float32'),
    (lambda: nd.t_scaled_square(nd.ones(2), nd.ones(2)), 'expects 1 inputs, but got 2'),
    (lambda: nd.t_failing(nd.ones((2, 2))), r'Provided = \[2,2\], inferred shape=\[7,2\]'),
    (lambda: nd.t_failing(nd.ones((7, 2))), 'as intended'),
])
def test_errors_carry_the_words_of_the_library(loaded, call, text):
    with pytest.raises(mx.MXNetError, match=text):
        call().asnumpy()
    assert (nd.ones(2) + 1).asnumpy().tolist() == [2, 2]


@needs_compiler
def test_an_operator_of_the_engine_is_not_replaced(tmp_path):
    text = Path(SOURCE).read_text()
    (tmp_path / 'taken.c').write_text(text.replace('t_two_halves', 'dot'))
    path = str(tmp_path / 'libtaken.so')
    subprocess.run([COMPILER, '-shared', '-fPIC', '-DVERSION=11', str(tmp_path / 'taken.c'), '-o', path], check=True,
                   timeout=120)
    with pytest.raises(mx.MXNetError, match='has an operator dot already'):
        mx.library.load(path)
    assert nd.dot(nd.ones((1, 2)), nd.ones((2, 1))).asnumpy().tolist() == np.full((1, 1), 2).tolist()
