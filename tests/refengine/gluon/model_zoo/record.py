"""Take down what a release says of its models: run with the release's own Python, ``python record.py [FILE]``."""

import json
import lzma
import sys
from pathlib import Path

TABLE = Path(__file__).parent / "models-mxnet-1.9.1.json.xz"
SIDE = {"inceptionv3": 299}


def names(mx):
    """The models that an engine lists when it is asked for one that it does not have."""
    try:
        mx.gluon.model_zoo.vision.get_model("?")
    except ValueError as error:
        return [line.strip() for line in str(error).split("\n")[1:]]
    raise AssertionError("a model named '?' was found")


def described(net):
    """Text, prefix and parameters (name, structural name, shape, gradient) of a model whose shapes are known."""
    full = [[name[len(net.prefix):], list(p.shape), p.grad_req] for name, p in net.collect_params().items()]
    return {"prefix": net.prefix.rstrip("0123456789_"), "parameters": full,
            "structural": list(net._collect_params_with_prefix())}


def describe(mx, name):
    """What an engine says of a model: its text before shapes are known, and its parameters afterwards."""
    net = mx.gluon.model_zoo.vision.get_model(name)
    text = repr(net)
    side = SIDE.get(name, 224)
    net.infer_shape(mx.nd.zeros((1, 3, side, side)))
    return dict(described(net), text=text)


if __name__ == "__main__":
    import mxnet

    table = {name: describe(mxnet, name) for name in names(mxnet)}
    data = json.dumps(table, separators=(",", ":"), sort_keys=True).encode()
    Path(sys.argv[1] if len(sys.argv) > 1 else TABLE).write_bytes(lzma.compress(data, preset=9))
