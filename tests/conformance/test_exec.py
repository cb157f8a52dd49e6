"""``conform exec``: a script that says ``import mxnet``, on any engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import conform
from miniature import HERE

SCRIPT = """\
import sys
import helper
import mxnet as mx
print(mx.__name__, helper.value, sys.argv[1:])
sys.exit(4)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("value = 41\n")
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def engines_file(folder: Path, text: str) -> Path:
    path = folder / "engines.toml"
    path.write_text(text)
    return path


def test_on_the_reference_engine(script: Path) -> None:
    done = conform("exec", "--engine", "refengine", script, "--lr", "0.1", "-h")
    assert (done.returncode, done.stdout) == (4, "refengine 41 ['--lr', '0.1', '-h']\n"), done.stderr


@pytest.mark.needs_mxnet
def test_on_a_real_release(script: Path) -> None:
    done = conform("exec", "--engine", "mxnet-1.9.1", script, "x")
    assert (done.returncode, done.stdout) == (4, "mxnet 41 ['x']\n"), done.stderr


def test_on_an_engine_of_another_name(script: Path, tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "__init__.py").write_text("from . import gluon as gluon\nready = False\n")
    (tmp_path / "vendor" / "gluon").mkdir()
    (tmp_path / "vendor" / "gluon" / "__init__.py").write_text("from . import nn as nn\n")
    (tmp_path / "vendor" / "gluon" / "nn.py").write_text("value = 7\n")
    (tmp_path / "vendor" / "broken.py").write_text("import no_such_library\n")
    script.write_text(
        "import mxnet, mxnet.gluon.nn\nfrom mxnet.gluon import nn\nimport sys, vendor.gluon.nn\n"
        "assert nn is mxnet.gluon.nn is vendor.gluon.nn and nn.__spec__.name == 'vendor.gluon.nn'\n"
        "for name in ('mxnet.nothing', 'mxnet.broken'):\n    try:\n        __import__(name)\n"
        "    except ModuleNotFoundError as error:\n        print(error.name)\nprint(mxnet.ready)\n")
    table = engines_file(tmp_path, "[engines.vendor]\nmodule = 'vendor'\npath = ['.']\nsetup = 'mx.ready = True'\n")
    done = conform("exec", "--engine", "vendor", "--engines-file", table, script)
    assert done.stdout.split() == ["mxnet.nothing", "no_such_library", "True"], done.stderr


def test_signal_is_passed_on_as_shells_do(script: Path, tmp_path: Path) -> None:
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    table = engines_file(tmp_path, f"[engines.sound]\nmodule = 'sound'\npath = ['{HERE / 'engines'}']\n")
    assert conform("exec", "--engine", "sound", "--engines-file", table, script).returncode == 137


def test_missing_script_and_engine(tmp_path: Path) -> None:
    done = conform("exec", "--engine", "refengine", tmp_path / "none.py")
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    (tmp_path / "x.py").write_text("")
    assert conform("exec", "--engine", "no-such", tmp_path / "x.py").returncode == 2
