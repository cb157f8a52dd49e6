"""What ``amp.init`` changes; each program in a process of its own, because the switch cannot be undone."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def run(code: str) -> str:
    program = 'import numpy as np\nimport refengine as mx\nfrom refengine import amp, autograd, nd\n'
    result = subprocess.run([sys.executable, '-c', program + textwrap.dedent(code)], capture_output=True, text=True,
                            timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_operators_compute_in_their_precision_and_gradients_stay_float32():
    assert run("""
        net = mx.gluon.nn.Dense(3, in_units=4); net.initialize(mx.init.Xavier())
        x = nd.random.uniform(shape=(2, 4)); before = net(x)
        amp.init()
        with autograd.record():
            y = net(x)
            p = nd.softmax(y)
            loss = (p * nd.array([[1., 2., 3.]])).sum()
        loss.backward()
        names = [np.dtype(a.dtype).name for a in (y, p, loss, net.weight.data(), net.weight.grad(), net.bias.grad())]
        print(names, float(abs(before - y.astype('float32')).max().asscalar()) < 1e-2,
              float(abs(net.weight.grad()).sum().asscalar()) > 0)
    """) == "['float16', 'float32', 'float32', 'float32', 'float32', 'float32'] True True"


def test_mixed_inputs_meet_in_the_widest_type():
    assert run("""
        amp.init()
        a = nd.ones((2, 2), dtype='float16'); b = nd.ones((2, 2)); a.attach_grad(); b.attach_grad()
        with autograd.record():
            results = [a + b, a * b, nd.dot(a, b), nd.concat(a, b), nd.stack(a, b)]
            total = nd.add_n(*[r.sum() for r in results])
        total.backward()
        print({np.dtype(r.dtype).name for r in results}, np.dtype(a.grad.dtype).name, np.dtype(b.grad.dtype).name,
              np.dtype((b + b).dtype).name, np.dtype((a + a).dtype).name)
    """) == "{'float32'} float16 float32 float32 float16"


def test_lists_replace_the_defaults_and_are_checked_before_anything_changes():
    assert run("""
        try:
            amp.init(target_precision_ops=['NoSuchOp'])
        except mx.MXNetError as error:
            print('NoSuchOp' in str(error))
        try:
            amp.init(target_dtype='int8')
        except AssertionError as error:
            print('only float16 or bfloat16' in str(error))
        amp.init(target_precision_ops=['dot'], fp32_ops=['exp'],
                 conditional_fp32_ops=[('Activation', 'act_type', ['tanh'])])
        amp.init(target_dtype='float64')
        x, h = nd.ones((2, 2)), nd.ones((2, 2), dtype='float16')
        fc = nd.FullyConnected(x, x, num_hidden=2, no_bias=True)
        arrays = (nd.dot(x, x), fc, nd.exp(h), nd.log(h), nd.Activation(h, act_type='tanh'),
                  nd.Activation(h, act_type='relu'))
        print([np.dtype(a.dtype).itemsize for a in arrays])
    """).split('\n') == ['True', 'True', '[2, 4, 4, 2, 4, 2]']


def test_all_import_paths_are_one_module():
    assert run("""
        import refengine.contrib.amp as contributed
        from refengine.contrib.amp.loss_scaler import LossScaler
        print(contributed is mx.amp, mx.contrib.amp is mx.amp, LossScaler is mx.amp.LossScaler)
    """) == 'True True True'
