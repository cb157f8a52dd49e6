"""The digits example: one file, two engines, the same loss curve and the same accuracy."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "examples/digits/train.py"
MODELS = ["mlp", "cnn"]


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """scikit-learn's digits as a file, for engines in whose environment there is no scikit-learn."""
    from sklearn.datasets import load_digits

    loaded = load_digits()
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    np.savez(path, images=loaded.images, labels=loaded.target)
    return path


@pytest.fixture(scope="session")
def trained(digits):
    """Train once per engine and model: a function that returns what the script printed."""
    results = {}

    def train(engine, model, *options):
        key = (engine, model, options)
        if key not in results:
            done = subprocess.run(
                [sys.executable, "-m", "conformance", "exec", "--engine", engine, str(SCRIPT), "--model", model,
                 "--data", str(digits), *options], capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, done.stdout + done.stderr
            results[key] = json.loads(done.stdout.strip().splitlines()[-1])
        return results[key]

    return train


@pytest.mark.parametrize("model", MODELS)
def test_the_reference_engine_learns_the_digits(trained, model):
    result = trained("refengine", model)
    assert result["engine"] == "refengine"
    assert result["accuracy"] > 0.96
    assert result["last_loss"] < result["first_losses"][0] / 3


@pytest.mark.needs_mxnet
@pytest.mark.parametrize("model", MODELS)
def test_mxnet_and_the_reference_engine_train_alike(trained, model):
    ours, theirs = trained("refengine", model), trained("mxnet-1.9.1", model)
    assert theirs["version"] == "1.9.1"
    assert theirs["accuracy"] > 0.96
    assert abs(ours["accuracy"] - theirs["accuracy"]) <= 0.01
    np.testing.assert_allclose(ours["first_losses"], theirs["first_losses"], rtol=1e-4)


@pytest.mark.needs_mxnet
def test_hybridized_training_with_adam_agrees_too(trained):
    options = ("--hybridize", "--optimizer", "adam", "--epochs", "3")
    ours, theirs = trained("refengine", "mlp", *options), trained("mxnet-1.9.1", "mlp", *options)
    np.testing.assert_allclose(ours["first_losses"], theirs["first_losses"], rtol=1e-4)
