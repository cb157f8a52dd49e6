"""Calls of network operators with made-up shapes: data, so that any engine can be asked (Python 3.8, numpy 1.17)."""

import numpy as np

TOGETHER = 5


def _tuple(random, low, high, count):
    return tuple(int(n) for n in random.randint(low, high, count))


def _convolutions(random):
    for _ in range(45):
        axes, batch, groups = random.randint(1, 4), int(random.randint(1, 3)), int(random.choice([1, 1, 1, 2, 3]))
        channels, filters = groups * int(random.randint(1, 7)), groups * int(random.randint(1, 5))
        kernel, sizes = _tuple(random, 1, 4, axes), _tuple(random, 5, 9, axes)
        bias = bool(random.randint(2))
        params = {'kernel': kernel, 'stride': _tuple(random, 1, 4, axes), 'dilate': _tuple(random, 1, 3, axes),
                  'pad': _tuple(random, 0, 3, axes), 'num_filter': filters, 'num_group': groups, 'no_bias': not bias}
        shapes = [(batch, channels) + sizes, (filters, channels // groups) + kernel] + [(filters,)] * bias
        yield 'Convolution', shapes, params


def _deconvolutions(random):
    for _ in range(45):
        axes, batch, groups = random.randint(1, 4), int(random.randint(1, 3)), int(random.choice([1, 1, 1, 2, 3]))
        channels, filters = groups * int(random.randint(1, 7)), groups * int(random.randint(1, 5))
        kernel, stride, sizes = _tuple(random, 1, 4, axes), _tuple(random, 1, 4, axes), _tuple(random, 3, 6, axes)
        dilate = (1,) * axes if axes == 3 else _tuple(random, 1, 3, axes)
        pad, adj = _tuple(random, 0, 2, axes), tuple(int(random.randint(0, s)) for s in stride)
        bias = bool(random.randint(2))
        params = {'kernel': kernel, 'stride': stride, 'dilate': dilate, 'pad': pad, 'adj': adj, 'num_filter': filters,
                  'num_group': groups, 'no_bias': not bias}
        out = [s * (n - 1) + d * (k - 1) + 1 - 2 * p + a
               for n, k, s, d, p, a in zip(sizes, kernel, stride, dilate, pad, adj)]
        if min(out) > 0:
            shapes = [(batch, channels) + sizes, (channels, filters // groups) + kernel] + [(filters,)] * bias
            yield 'Deconvolution', shapes, params


def _poolings(random):
    for _ in range(90):
        axes = random.randint(1, 4)
        kernel = _tuple(random, 1, 4, axes)
        kind = str(random.choice(['max', 'avg', 'sum', 'avg']))
        params = {'kernel': kernel, 'stride': _tuple(random, 1, 4, axes), 'pool_type': kind,
                  'pad': tuple(int(random.randint(0, k)) for k in kernel),
                  'pooling_convention': str(random.choice(['valid', 'full']))}
        sizes = _tuple(random, 4, 9, axes)
        # Windows that lie in the padding altogether are 0/0 there, or refused.
        beyond = [-((k - n - 2 * p) // s) * s >= n + p for n, k, s, p in
                  zip(sizes, kernel, params['stride'], params['pad'])]
        if kind == 'avg':
            params['count_include_pad'] = bool(random.randint(2))
        if random.randint(6) == 0:
            params['global_pool'] = True
        if params['pooling_convention'] == 'valid' or not any(beyond):
            yield 'Pooling', [(int(random.randint(1, 4)), int(random.randint(1, 5))) + sizes], params


def _normalisations():
    for axis, shape in ((1, (3, 4, 5)), (1, (2, 3)), (2, (2, 3, 4, 5)), (-1, (2, 3, 4)), (0, (3, 4))):
        vector = (shape[axis],)
        for fix in (True, False):
            for running in (True, False):
                yield 'BatchNorm', [shape, vector, vector, vector, 'positive:' + str(vector[0])], {
                    'axis': axis, 'fix_gamma': fix, 'use_global_stats': running, 'eps': 1e-3}
    for shape, axis in (((3, 4), -1), ((2, 3, 4), 1), ((2, 3, 4), 0), ((2, 3, 4, 5), 2)):
        yield 'LayerNorm', [shape, (shape[axis],), (shape[axis],)], {'axis': axis, 'eps': 1e-3}
    for shape in ((2, 3, 4), (2, 3, 4, 5), (1, 2, 3, 4, 5)):
        yield 'InstanceNorm', [shape, (shape[1],), (shape[1],)], {'eps': 1e-3}
    for shape, groups in (((2, 4, 3), 2), ((2, 6, 3, 2), 3), ((2, 4, 3), 1), ((3, 4, 2, 2), 4)):
        yield 'GroupNorm', [shape, (groups,), (groups,)], {'num_groups': groups, 'eps': 1e-3}
    for shape in ((2, 3, 4), (2, 3, 4, 5)):
        for mode in ('instance', 'channel', 'spatial'):
            yield 'L2Normalization', [shape], {'mode': mode}
    for size in (1, 3, 5):
        yield 'LRN', [(2, 5, 3, 2)], {'nsize': size, 'alpha': 0.3, 'beta': 0.6, 'knorm': 1.5}


def _activations():
    for kind in ('relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'):
        yield 'Activation', [(3, 4)], {'act_type': kind}
    for kind in ('leaky', 'elu', 'gelu'):
        yield 'LeakyReLU', [(3, 4)], {'act_type': kind, 'slope': 0.3}
    for shape, slopes in (((2, 3, 4), '3'), ((2, 3, 4), '1'), ((3, 4), '4')):
        yield 'LeakyReLU', [shape, 'positive:' + slopes], {'act_type': 'prelu'}
    yield 'hard_sigmoid', [(3, 4)], {}
    yield 'hard_sigmoid', [(3, 4)], {'alpha': 0.5, 'beta': 0.1}
    for name in ('softmax', 'log_softmax', 'softmin'):
        yield name, [(3, 4)], {}
        yield name, [(2, 3, 4)], {'axis': 1, 'temperature': 2.0}
        yield name, [(2, 3, 4)], {'axis': 0}
    yield 'SoftmaxActivation', [(2, 3, 4, 2)], {'mode': 'channel'}
    yield 'SoftmaxActivation', [(2, 3)], {}


def _outputs():
    for norm in ('null', 'batch', 'valid'):
        yield 'SoftmaxOutput', [(4, 3), 'label3:4'], {'normalization': norm, 'grad_scale': 2.0}
        yield 'SoftmaxOutput', [(4, 3), 'label3:4'], {'normalization': norm, 'use_ignore': True, 'ignore_label': 1.0}
        yield 'SoftmaxOutput', [(2, 3, 4), 'label3:2,4'], {'normalization': norm, 'multi_output': True}
        yield 'SoftmaxOutput', [(2, 3, 4), 'label3:2,4'], {'normalization': norm, 'multi_output': True,
                                                           'use_ignore': True, 'ignore_label': 2.0}
    yield 'SoftmaxOutput', [(2, 3, 4), 'label4:2,3'], {'preserve_shape': True}
    yield 'SoftmaxOutput', [(4, 3), 'label3:4'], {'smooth_alpha': 0.1}
    yield 'SoftmaxOutput', [(4, 3), 'fixed:4,3'], {}
    yield 'SoftmaxOutput', [(2, 3, 2, 2), 'label3:2,2,2'], {'multi_output': True}
    yield 'SoftmaxOutput', [(2, 6), 'label6:2'], {'smooth_alpha': 0.2, 'use_ignore': True, 'ignore_label': 0.0,
                                                  'normalization': 'valid'}
    for name in ('LinearRegressionOutput', 'MAERegressionOutput', 'LogisticRegressionOutput'):
        yield name, [(4, 3), 'fixed:4,3'], {'grad_scale': 2.0}
        yield name, [(4, 1), 'fixed:4'], {}
        yield name, [(2, 3, 2), 'fixed:2,3,2'], {}
    for linear in (True, False):
        yield 'SVMOutput', [(4, 3), 'label3:4'], {'use_linear': linear, 'margin': 0.7,
                                                  'regularization_coefficient': 0.5}
    yield 'softmax_cross_entropy', [(4, 3), 'label3:4'], {}
    yield 'CTCLoss', [(5, 3, 4), 'literal:[[1,2,0],[2,1,2],[1,0,0]]'], {'blank_label': 'first'}
    yield 'CTCLoss', [(5, 3, 4), 'literal:[[1,2,-1],[2,1,2],[0,-1,-1]]'], {'blank_label': 'last'}


def _rest():
    for shape, flatten in (((2, 3), True), ((2, 3, 4), True), ((2, 3, 4), False)):
        inputs = int(np.prod(shape[1:])) if flatten else shape[-1]
        yield 'FullyConnected', [shape, (5, inputs), (5,)], {'num_hidden': 5, 'flatten': flatten}
        yield 'FullyConnected', [shape, (5, inputs)], {'num_hidden': 5, 'flatten': flatten, 'no_bias': True}
    yield 'Embedding', ['label5:2,3', (5, 4)], {'input_dim': 5, 'output_dim': 4}
    yield 'Embedding', ['literal:[5,-1,1.7]', (3, 2)], {'input_dim': 3, 'output_dim': 2}
    yield 'UpSampling', [(2, 3, 2, 3)], {'scale': 2, 'sample_type': 'nearest'}
    yield 'UpSampling', [(1, 2, 3, 3), (2, 1, 4, 4)], {'scale': 2, 'sample_type': 'bilinear', 'num_filter': 2}


def cases():
    """All calls as (operator, inputs, parameters); always the same ones."""
    random = np.random.RandomState(7)
    result = []
    for part in (_convolutions(random), _deconvolutions(random), _poolings(random), _normalisations(), _activations(),
                 _outputs(), _rest()):
        result.extend(part)
    return result


def arrays(case, number):
    """The inputs of a call, and which of them are differentiated."""
    random = np.random.RandomState(number)
    made, wanted = [], []
    for text in case[1]:
        if not isinstance(text, str):
            made.append(random.uniform(-1, 1, text))
            wanted.append(True)
            continue
        kind, _, rest = text.partition(':')
        if kind == 'literal':
            made.append(np.array(eval(rest)))
            wanted.append(False)
            continue
        shape = tuple(int(n) for n in rest.split(','))
        if kind.startswith('label'):
            made.append(random.randint(0, int(kind[5:]), shape))
        else:
            made.append(random.uniform(0.2 if kind == 'positive' else -1, 1.2, shape))
        wanted.append(kind == 'positive' and case[0] == 'LeakyReLU')
    if case[0] == 'BatchNorm':
        wanted = [True, True, True, False, False]
    return [a.astype('float32') for a in made], wanted


def digest(array):
    """Shape, a few elements and three weighted sums: enough to notice any element that differs."""
    flat = np.asarray(array, dtype='float64').reshape(-1)
    places = np.unique(np.linspace(0, max(flat.size - 1, 0), TOGETHER).astype(int))
    sums = [float((flat * np.cos(np.arange(flat.size) * step)).sum()) for step in (0.0, 0.7, 2.1)]
    return {'shape': list(np.shape(array)), 'some': [float(flat[i]) for i in places] if flat.size else [], 'sums': sums}


def ask(mx, case, number):
    """Results and gradients of a call in an engine; for BatchNorm the statistics and gamma afterwards too."""
    nd, autograd = mx.nd, mx.autograd
    values, wanted = arrays(case, number)
    inputs = [nd.array(v) for v in values]
    for array, differentiate in zip(inputs, wanted):
        if differentiate:
            array.attach_grad()
    with autograd.record():
        result = getattr(nd, case[0])(*inputs, **case[2])
    result = result[0] if isinstance(result, list) else result
    above = np.random.RandomState(number + 1000).uniform(-1, 1, result.shape).astype('float32')
    result.backward(nd.array(above))
    found = [result.asnumpy()] + [a.grad.asnumpy() for a, d in zip(inputs, wanted) if d]
    if case[0] == 'BatchNorm':
        found += [inputs[i].asnumpy() for i in (1, 3, 4)]
    return [digest(f) for f in found]
