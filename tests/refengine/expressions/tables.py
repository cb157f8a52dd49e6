"""The expressions: every operator and method with operands of several types, and at its corners."""

# ruff: noqa: SIM905 - a row of words is easier to read and to extend than a list of quoted ones

from __future__ import annotations

PRELUDE = '''
a = nd.array([[1., -2., 3.], [0.5, 5., -6.]])
b = nd.array([[2., 2., -1.5]])
i = nd.array([[5, -5, 7], [0, 3, 2]], dtype='int32')
u = nd.array([250, 3, 0], dtype='uint8')
h = nd.array([1, 2, 3.5], dtype='float16')
bo = nd.array([1, 0], dtype='bool')
L = nd.array([2 ** 40, 3], dtype='int64')
x3 = nd.arange(24).reshape((2, 3, 4))
odd = nd.array([0., -0.5, 0.5, 1, -1, float("nan"), float("inf"), -float("inf"), 2.5, -2.5])
m2 = nd.array([[2., 7], [1, 1.5]])
lower = nd.array([[2., 0], [1, 1.5]])

C = nd.contrib


def N(seed, *shape):
    return nd.array(np.random.RandomState(seed).randn(*shape))


def P(seed, *shape):
    return nd.array(np.random.RandomState(seed).rand(*shape) + 0.3)


def Z(seed, top, *shape, dtype='float32'):
    return nd.array(np.random.RandomState(seed).randint(0, top, shape), dtype=dtype)


def B(seed, *shape):
    random = np.random.RandomState(seed)
    corner = random.uniform(0, 0.6, shape + (2,))
    return nd.array(np.concatenate([corner, corner + random.uniform(0.1, 0.4, shape + (2,))], -1))


def D(seed, *shape):
    boxes = B(seed, *shape).asnumpy()
    random = np.random.RandomState(seed)
    scores = random.permutation(boxes[..., 0].size).reshape(shape + (1,)) / 10.0 + 0.05
    return nd.array(np.concatenate([random.randint(0, 2, shape + (1,)), scores, boxes], -1))


def A(f, *xs):
    for x in xs:
        x.attach_grad()
    with autograd.record():
        ys = f(*xs)
        ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
        total = sum((y * y).sum() for y in ys)
    total.backward()
    return ys + [x.grad for x in xs]


def G(f, *xs):
    for x in xs:
        x.attach_grad()
    with autograd.record():
        y = f(*xs)
    y.backward()
    return [x.grad for x in xs]


class Keys:
    def __getitem__(self, key):
        return key


K = Keys()


def put(x, key, value):
    x = x.copy()
    x[key] = value
    return x


def inplace(x, code, other):
    scope = {'x': x.copy(), 'other': other}
    scope['y'] = scope['x']
    exec(code, scope)
    return scope['y']
'''

UNARY = ('relu sigmoid softsign reciprocal abs sign round rint ceil floor trunc fix square sqrt rsqrt cbrt rcbrt exp '
         'expm1 log log10 log2 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees '
         'radians erf erfinv gamma gammaln logical_not negative softmax log_softmax').split()
REDUCTIONS = 'sum mean prod max min nansum nanprod norm argmax argmin'.split()
SHAPES = ('(0,-1) (-1,0) (-2,) (0,-2) (6,1,-2) (4,0,2) (0,0,0,1) (-3,4) (0,-3) (-3,-2) (-4,1,2,-2) '
          '(2,-4,-1,3,-2) (-4,2,-1,-2) (-1,) (24,) (2,-1) (0,0,-1) (0,0,0,0) (-3,) (0,0,-3) (-4,2) (-1,-1) (5,5) '
          '(-5,) () (-1,0,0) (3,-1,0) (-3,-1) (-2,-1) (-1,-2) (0,-4,3,1,-1) (1,-2)').split()
KEYS = ('0|-1|5|0:1|::2|::-1|1:5|5:9|None|...|0,1|0,:|...,0|None,0|0,None|[0,1]|[[0,1],[1,0]]|[0,1],[0,2]|:,[0,2]|'
        '[0],1:3|nd.array([1,0])|np.array([1])|True|1:2,0:2|::2,1|0,5|0,0,0|1:1|2:1|:,1:1|-1:-3:-1|range(2)|(0,1)|[]|'
        'np.int64(1)|1.5|"a"|nd.array([1,0,1],dtype="int32")|[0,-1]|[5]|[-3]|None,...,None|0:2:2|[True,False]|:,None,0|'
        '[0,1],[0,1,2]|[[0],[1]],[0,2]').split('|')
WRITES = (('0', '1'), (':', '5'), ('0', '[1,2,3]'), ('0', 'nd.array([1,2,3])'), (':,1', '9'), ('0,1', '7'),
          ('::2', 'nd.ones((1,3))'), ('[0,1],[0,2]', 'nd.array([7,8])'), ('[0]', '5'), ('0', 'nd.array([1,2])'),
          ('...', '3'), ('1:2', 'nd.ones((2,3))'), (':', 'nd.ones((3,))'), (':', 'nd.ones((1,1,2,3))'),
          ('0', 'nd.ones((1,3))'), ('nd.array([1])', 'nd.array([[4,5,6]])'), (':,[0,1]', 'nd.array([[1],[2]])'),
          ('0,0', 'nd.array([5])'), ('::-1', 'nd.array([[1,2,3],[4,5,6]])'), ('5', '1'), ('0', 'np.array([1,2,3])'),
          ('0', 'None'), ('0', '"x"'), ('[0,0]', 'nd.array([[1,1,1],[2,2,2]])'), (':', 'True'), ('-1', 'i[0]'),
          ('None', '5'), ('0:1,1:2', '8'), (':,::2', 'nd.array([[1,2],[3,4]])'))


def _arithmetic():
    for op in '+ - * / % **'.split():
        for s in ('2', '-2', '1.5', '0', 'True', 'np.float64(2.5)', 'np.int32(3)'):
            whole = not (op in '/%' and s == '0')       # a whole number divided by zero ends the release
            yield f'a{op}{s}'
            if not s.startswith('np'):
                yield f'{s}{op}a'
            yield f'h{op}{s}'
            if whole:
                yield from (f'{x}{op}{s}' for x in ('i', 'u', 'L', 'bo'))
        yield from (f'a{op}b', f'i{op}nd.array([[2,3,-2]],dtype="int32")', f'u{op}nd.array([2,3,7],dtype="uint8")',
                    f'h{op}h', f'a{op}i', f'bo{op}bo')
    for op in '== != < <= > >='.split():
        for s in ('2', '-2', '1.5', '0'):
            yield from (f'{x}{op}{s}' for x in ('a', 'i', 'u', 'bo'))
        yield from (f'a{op}b', f'i{op}i')
    for op in ('+=', '-=', '*=', '/=', '%='):
        for t in ('2', '1.5', 'b', 'a', 'np.float32(2)'):
            yield f'inplace(a,"x{op}other",{t})'
            if t in ('2', '1.5'):
                yield from (f'inplace({x},"x{op}other",{t})' for x in ('i', 'u'))


def _functions():
    for f in UNARY:
        yield from (f'nd.{f}({x})' for x in ('a', 'i', 'u', 'h', 'bo', 'odd'))
        yield from (f'G(nd.{f},nd.array({x}))' for x in ('[0.3,0.7]', '[0.,1.,-1.]'))
    for f in REDUCTIONS:
        yield from (f'nd.{f}({x})' for x in (
            'a', 'a,axis=0', 'a,axis=1,keepdims=True', 'i', 'i,axis=1', 'u', 'h', 'bo', 'a,axis=5', 'L',
            'a,keepdims=True', 'a,axis=-1'))
        yield f'a.{f}()'
        if not f.startswith('arg'):
            yield from (f'nd.{f}(x3,axis=(0,2))', f'G(lambda x: nd.{f}(x),nd.array([[1.,2.],[2.,1.5]]))',
                        f'G(lambda x: nd.{f}(x,axis=1),nd.array([[1.,2.],[2.,2.]]))')
        if f not in ('norm', 'argmax', 'argmin'):
            yield from (f'nd.{f}(x3,axis=1,exclude=True)', f'nd.{f}(x3,axis=(),keepdims=True)')


def _shapes():
    for s in SHAPES:
        for r in ('', 'reverse=True'):
            yield from (f'nd.reshape(x3,shape={s},{r})', f'x3.reshape({s},{r})')


def _indexing():
    for k in KEYS:
        yield from (f'a[{k}]', f'x3[{k}]')
    for k, v in WRITES:
        yield from (f'put(a,K[{k}],{v})', f'put(i,K[{k}],{v})')


def _gradients():
    for f in ('lambda x,y: x+y', 'lambda x,y: x-y', 'lambda x,y: x*y', 'lambda x,y: x/y', 'lambda x,y: x%y',
              'lambda x,y: x**y', 'nd.broadcast_hypot', 'nd.broadcast_maximum', 'nd.broadcast_minimum',
              'lambda x,y: x>y'):
        yield f'G({f},nd.array([[1.,2.5],[3.,-4.5]]),nd.array([[2.,-2.]]))'
    for f in ('x+2', '2-x', 'x*3', 'x/2', '2/x', 'x%2', '7%x', 'x**2', '2**x', 'x**0', 'x**-1', 'nd.maximum(x,1)',
              'nd.minimum(x,1)', 'x>1', '-x', 'abs(x)', 'x**0.5', '0**x', '(-2)**x'):
        yield f'G(lambda x: {f},nd.array([1.,-2.5,0.,3.]))'


def expressions() -> list[str]:
    """All expressions, each once."""
    from .operators import OPERATORS
    from .plain import PLAIN
    found = [*_arithmetic(), *_functions(), *_shapes(), *_indexing(), *_gradients(), *PLAIN, *OPERATORS]
    return list(dict.fromkeys(found))
