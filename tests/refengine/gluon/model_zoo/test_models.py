"""Ready-made models are those of MXNet 1.9.1: layers, names, shapes, and outputs with the same weights."""

from __future__ import annotations

import json
import lzma
import subprocess

import numpy as np
import pytest

import refengine as mx
from refengine import gluon, nd
from refengine.gluon.model_zoo import model_store, vision
from tests.refengine import releases
from tests.refengine.gluon.model_zoo import record

RELEASE = json.loads(lzma.decompress(record.TABLE.read_bytes()))
QUICK = [name for name in RELEASE if name.startswith(('resnet18', 'resnet50', 'mobilenet', 'squeezenet1.1'))]


def test_the_same_models():
    assert record.names(mx) == list(RELEASE)
    assert len(RELEASE) == 34


@pytest.mark.parametrize('name', RELEASE)
def test_layers_and_names(name):
    """Everything that can be known before the first image."""
    net = vision.get_model(name)
    expected = RELEASE[name]
    assert repr(net) == expected['text']
    given = record.described(net)
    assert given['prefix'] == expected['prefix']
    assert given['structural'] == expected['structural']
    for (full, shape, grad_req), (expected_full, expected_shape, expected_req) in zip(
            given['parameters'], expected['parameters'], strict=True):
        assert (full, grad_req) == (expected_full, expected_req)
        assert all(n in (0, m) for n, m in zip(shape, expected_shape, strict=True))


def shapes_agree(name, side):
    net = vision.get_model(name)
    net.infer_shape(nd.zeros((1, 3, side, side)))
    assert [list(p.shape) for p in net.collect_params().values()] == [shape for _, shape, _ in
                                                                      RELEASE[name]['parameters']]


@pytest.mark.parametrize('name', QUICK)
def test_shapes(name):
    # These shapes do not depend on the size of the image; a small one is quicker.
    shapes_agree(name, 224 if name.startswith('squeeze') else 32)


@pytest.mark.slow
@pytest.mark.parametrize('name', [name for name in RELEASE if name not in QUICK])
def test_all_shapes(name):
    shapes_agree(name, record.SIDE.get(name, 224))


class TestErrors:
    def test_unknown_name(self):
        with pytest.raises(ValueError, match=r'Model foo is not supported. Available options are\n\talexnet\n'):
            vision.get_model('foo')

    @pytest.mark.parametrize(('make', 'kind', 'text'), [
        (lambda: vision.get_resnet(3, 18), AssertionError, 'Invalid resnet version: 3. Options are 1 and 2.'),
        (lambda: vision.get_resnet(1, 19), AssertionError, 'Invalid number of layers: 19'),
        (lambda: vision.SqueezeNet('2.0'), AssertionError, 'Unsupported SqueezeNet version 2.0'),
        (lambda: vision.get_vgg(12), KeyError, '12'),
        (lambda: vision.resnet18_v1(foo=3), TypeError, "unexpected keyword argument 'foo'")])
    def test_wrong_arguments(self, make, kind, text):
        with pytest.raises(kind, match=text):
            make()

    def test_names_in_any_case(self):
        assert type(vision.get_model('ResNet18_V1')) is vision.ResNetV1


class TestWeights:
    """Weights come from files of this machine, and only from there."""

    @pytest.fixture
    def saved(self, tmp_path):
        net = vision.squeezenet1_1(classes=3)
        net.initialize()
        net(nd.zeros((1, 3, 224, 224)))
        path = tmp_path / 'squeezenet1.1-0123abcd.params'
        net.save_parameters(str(path))
        return net, path

    def test_from_a_folder_and_from_a_file(self, saved):
        net, path = saved
        plain = path.parent / 'plain'
        plain.mkdir()
        (plain / 'squeezenet1.1.params').write_bytes(path.read_bytes())
        for root in (path.parent, path, str(plain)):
            loaded = vision.get_model('squeezenet1.1', classes=3, pretrained=True, root=root)
            for name, parameter in loaded._collect_params_with_prefix().items():
                assert (parameter.data().asnumpy() == net._collect_params_with_prefix()[name].data().asnumpy()).all()

    def test_several_files_are_an_error(self, saved):
        _, path = saved
        path.with_name('squeezenet1.1-ffffffff.params').write_bytes(path.read_bytes())
        with pytest.raises(ValueError, match='several files hold weights of squeezenet1.1'):
            vision.squeezenet1_1(classes=3, pretrained=True, root=path.parent)

    def test_absent(self, tmp_path, monkeypatch):
        with pytest.raises(FileNotFoundError, match='Weights are never downloaded'):
            vision.resnet18_v1(pretrained=True, root=tmp_path)
        monkeypatch.setenv('MXNET_HOME', str(tmp_path))
        assert model_store.default_root() == str(tmp_path / 'models')
        with pytest.raises(FileNotFoundError, match='resnet18_v1.params'):
            vision.resnet18_v1(pretrained=True)

    def test_names_of_files(self, tmp_path, monkeypatch):
        asked = []

        def note(name, root=None):
            asked.append(name)
            raise FileNotFoundError(name)

        monkeypatch.setattr(model_store, 'get_model_file', note)
        for name in RELEASE:
            with pytest.raises(FileNotFoundError):
                vision.get_model(name, pretrained=True)
        assert asked == list(RELEASE)

    def test_purge(self, saved):
        _, path = saved
        model_store.purge(path.parent)
        assert not path.exists()


def test_thumbnails():
    for version in (1, 2):
        net = vision.get_resnet(version, 18, thumbnail=True, classes=10)
        net.initialize()
        assert net(nd.zeros((2, 3, 32, 32))).shape == (2, 10)
        assert net.features[version - 1].__class__ is gluon.nn.Conv2D


ASK = """
vision = mx.gluon.model_zoo.vision
for name, side in {models!r}:
    mx.random.seed(1)
    np.random.seed(1)
    net = vision.get_model(name, classes=7)
    net.initialize(mx.init.Xavier())
    x = mx.nd.array(np.random.RandomState(3).uniform(0, 1, (2, 3, side, side)))
    with mx.autograd.record():
        net(x).sum().backward()      # moves the statistics of batch normalisation
    net.save_parameters(name + '.params')
    np.savez(name + '.npz', x=x.asnumpy(), y=net(x).asnumpy())
"""

SMALL = [('resnet18_v1', 64), ('resnet18_v2', 64), ('squeezenet1.1', 224), ('mobilenet0.25', 64),
         ('mobilenetv2_0.25', 64)]


@pytest.mark.needs_mxnet
def test_outputs_with_the_weights_of_the_release(tmp_path):
    releases.run('mxnet-1.9.1', ASK.format(models=SMALL), tmp_path)
    for name, _ in SMALL:
        net = vision.get_model(name, classes=7, pretrained=True, root=tmp_path)
        asked = np.load(tmp_path / f'{name}.npz')
        given = net(nd.array(asked['x'])).asnumpy()
        assert np.abs(asked['y']).max() > 0
        assert np.abs(given - asked['y']).max() <= 1e-5 * np.abs(asked['y']).max(), name


@pytest.mark.needs_mxnet
@pytest.mark.slow
def test_the_release_still_says_so(tmp_path):
    from conformance.engine import find_engine
    from conformance.engines.provision import interpreter_for
    out = tmp_path / 'models.json.xz'
    command = [interpreter_for(find_engine('mxnet-1.9.1')), record.__file__, str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          env={'OMP_NUM_THREADS': '1', 'PATH': '/usr/bin:/bin'})
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(lzma.decompress(out.read_bytes())) == RELEASE
