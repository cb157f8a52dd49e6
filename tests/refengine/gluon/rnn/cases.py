"""Recurrent cells and layers with their inputs: data, so that any engine can be asked (Python 3.8, numpy 1.17)."""

import numpy as np

TOGETHER = 6


def cell_cases():
    """Pairs of a name and a function of an engine that makes a cell."""
    def rnn(mx):
        return mx.gluon.rnn

    def stack(mx, kind, *cells):
        made = getattr(rnn(mx), kind)()
        for cell in cells:
            made.add(cell)
        return made

    yield 'rnn', lambda mx: rnn(mx).RNNCell(5)
    yield 'rnn-relu', lambda mx: rnn(mx).RNNCell(5, 'relu')
    yield 'rnn-softrelu', lambda mx: rnn(mx).RNNCell(5, 'softrelu')
    yield 'lstm', lambda mx: rnn(mx).LSTMCell(5)
    yield 'lstm-activations', lambda mx: rnn(mx).LSTMCell(5, activation='softsign', recurrent_activation='tanh')
    yield 'gru', lambda mx: rnn(mx).GRUCell(5)
    yield 'lstmp', lambda mx: mx.gluon.contrib.rnn.LSTMPCell(5, 3)
    yield 'residual', lambda mx: rnn(mx).ResidualCell(rnn(mx).GRUCell(4))
    yield 'zoneout-off', lambda mx: rnn(mx).ZoneoutCell(rnn(mx).LSTMCell(5))
    yield 'bidirectional', lambda mx: rnn(mx).BidirectionalCell(rnn(mx).LSTMCell(5), rnn(mx).GRUCell(3))
    for kind in ('SequentialRNNCell', 'HybridSequentialRNNCell'):
        yield kind, lambda mx, kind=kind: stack(
            mx, kind, rnn(mx).LSTMCell(5), rnn(mx).BidirectionalCell(rnn(mx).RNNCell(3), rnn(mx).GRUCell(2)),
            rnn(mx).ResidualCell(rnn(mx).RNNCell(5)), rnn(mx).DropoutCell(0.0))


def conv_cases():
    """Pairs of a name and a function of an engine that makes a cell and the shape of one input."""
    for kind in ('RNN', 'LSTM', 'GRU'):
        for dims in (1, 2, 3):
            name = f'Conv{dims}D{kind}Cell'
            shape = (2,) + (6, 5, 4)[:dims]
            yield name, lambda mx, name=name, shape=shape, dims=dims: getattr(mx.gluon.contrib.rnn, name)(
                shape, 3, 3, 3 if dims < 3 else 1, i2h_pad=1), shape
    yield 'dilated', lambda mx: mx.gluon.contrib.rnn.Conv2DLSTMCell(
        (2, 7, 8), 3, (3, 2), (5, 3), (1, 0), (2, 1), (1, 2), activation='relu'), (2, 7, 8)


def layer_cases():
    """Pairs of a name and a function of an engine that makes a layer."""
    for kind in ('RNN', 'LSTM', 'GRU'):
        for number, options in enumerate([{}, {'num_layers': 2, 'bidirectional': True}, {'layout': 'NTC',
                                                                                        'num_layers': 3}]):
            yield f'{kind}-{number}', lambda mx, kind=kind, options=options: getattr(
                mx.gluon.rnn, kind)(5, **options)
    yield 'RNN-tanh', lambda mx: mx.gluon.rnn.RNN(5, activation='tanh', bidirectional=True)


def cases():
    """Everything that is asked: (name, function of an engine that gives arrays)."""
    for name, make in cell_cases():
        for layout in ('NTC', 'TNC'):
            for lengths in (None, [1, 3]):
                # The release takes a bidirectional cell below others with lengths only where time comes first.
                if lengths is None or layout == 'TNC' or 'Sequential' not in name:
                    yield '{}-{}-{}'.format(name, layout, 'all' if lengths is None else 'lengths'), \
                        lambda mx, make=make, layout=layout, lengths=lengths: unrolled(mx, make, layout, lengths)
    for name, make, shape in conv_cases():
        yield name, lambda mx, make=make, shape=shape: convolved(mx, make, shape)
    for name, make in layer_cases():
        yield name, lambda mx, make=make: layered(mx, make)


def fill(mx, block):
    """Give all parameters values that do not depend on the engine."""
    for number, name in enumerate(sorted(block._collect_params_with_prefix())):
        parameter = block._collect_params_with_prefix()[name]
        random = np.random.RandomState(number)
        parameter.set_data(mx.nd.array(random.uniform(-0.6, 0.6, parameter.shape)))


def gradients(block):
    """The gradients in the order of structural names."""
    found = block._collect_params_with_prefix()
    return [found[name].grad() for name in sorted(found)]


def scored(mx, arrays):
    """One number from arrays, each element with a weight of its own."""
    total = 0
    for number, array in enumerate(arrays):
        weights = np.random.RandomState(100 + number).uniform(-1, 1, array.shape)
        total = total + (array * mx.nd.array(weights)).sum()
    return total


def unrolled(mx, make, layout, lengths):
    """Outputs, last states and gradients of a cell over three steps of two samples."""
    cell = make(mx)
    cell.initialize()
    x = mx.nd.array(np.random.RandomState(7).uniform(-1, 1, (2, 3, 4)).transpose(0, 1, 2) if layout == 'NTC' else
                    np.random.RandomState(7).uniform(-1, 1, (3, 2, 4)))
    options = {'layout': layout, 'merge_outputs': True}
    if lengths is not None:
        options['valid_length'] = mx.nd.array(lengths)
    cell.unroll(3, x, **options)
    fill(mx, cell)
    x.attach_grad()
    with mx.autograd.record():
        outputs, states = cell.unroll(3, x, **options)
        score = scored(mx, [outputs] + states)
    score.backward()
    return [outputs] + states + [x.grad] + gradients(cell)


def convolved(mx, make, shape):
    """The same for a convolutional cell, two steps."""
    cell = make(mx)
    cell.initialize()
    fill(mx, cell)
    steps = [mx.nd.array(np.random.RandomState(n).uniform(-1, 1, (2,) + shape)) for n in (1, 2)]
    for step in steps:
        step.attach_grad()
    with mx.autograd.record():
        outputs, states = cell.unroll(2, steps)
        score = scored(mx, outputs + states)
    score.backward()
    return outputs + states + [step.grad for step in steps] + gradients(cell)


def layered(mx, make):
    """Outputs, last states and gradients of a layer over four steps of two samples, states given."""
    layer = make(mx)
    layer.initialize()
    shape = (4, 2, 3) if layer._layout == 'TNC' else (2, 4, 3)
    x = mx.nd.array(np.random.RandomState(7).uniform(-1, 1, shape))
    alone = layer(x).shape
    fill(mx, layer)
    states = [mx.nd.array(np.random.RandomState(n).uniform(-1, 1, state.shape))
              for n, state in enumerate(layer.begin_state(2))]
    for array in [x] + states:
        array.attach_grad()
    with mx.autograd.record():
        outputs, last = layer(x, states)
        score = scored(mx, [outputs] + last)
    score.backward()
    assert outputs.shape == alone
    return [outputs] + last + [x.grad] + [state.grad for state in states] + gradients(layer)


def summary(array):
    """Shape, weighted sums and some elements of an array, rounded to what single precision can hold."""
    values = array.asnumpy().astype('float64').ravel()
    weights = np.random.RandomState(values.size).uniform(-1, 1, (TOGETHER, values.size))
    return {'shape': list(array.shape), 'sums': [float(f'{s:.7g}') for s in weights.dot(values)],
            'some': [float(f'{v:.7g}') for v in values[:: max(1, values.size // TOGETHER)][:TOGETHER]]}


def ask(mx, case):
    """What an engine answers."""
    return [summary(array) for array in case[1](mx)]
