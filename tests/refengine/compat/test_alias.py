"""``import mxnet`` gives the reference engine, the same objects under both names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import refengine


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    root = str(Path(refengine.__file__).parents[1])
    return subprocess.run([sys.executable, "-m", "refengine", *arguments], capture_output=True, text=True, cwd=cwd,
                          env={"PYTHONPATH": root, "PATH": ""}, check=False)


def code(text: str) -> subprocess.CompletedProcess[str]:
    return run("run", "-c", text)


def test_modules_are_the_very_same() -> None:
    done = code("import mxnet as mx, refengine, mxnet.gluon.nn, mxnet.nd as nd\n"
                "from mxnet.gluon import nn, Trainer\nfrom mxnet.ndarray import NDArray\n"
                "assert mx is refengine and mxnet.gluon.nn is nn is refengine.gluon.nn and nd is refengine.nd\n"
                "assert NDArray is refengine.nd.NDArray and Trainer is refengine.gluon.Trainer\nprint('same')")
    assert (done.stdout, done.stderr) == ("same\n", "")


def test_modules_keep_their_own_spec() -> None:
    done = code("import refengine.gluon\nimport mxnet.gluon\nprint(mxnet.gluon.__spec__.name, mxnet.__name__)")
    assert done.stdout.split() == ["refengine.gluon", "refengine"]


def test_work_done_under_both_names() -> None:
    done = code("import mxnet as mx\nx = mx.nd.ones((2, 3)) * 2\nprint(x.asnumpy().sum(), type(x).__module__)")
    assert done.stdout.split()[0] == "12.0"


def test_what_is_missing_says_who_answers() -> None:
    done = code("import mxnet.nothing_like_this")
    assert done.returncode == 1
    assert "No module named 'mxnet.nothing_like_this': mxnet is answered by refengine" in done.stderr


def test_failing_import_inside_a_module_is_not_hidden(tmp_path: Path) -> None:
    done = code("import sys, types\nimport refengine.gluon\nsys.modules['refengine.broken'] = None\n"
                "import mxnet.broken")
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr


def test_mxnet_that_is_loaded_already_is_not_replaced() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, types\nsys.modules['mxnet'] = types.ModuleType('mxnet')\n"
         "sys.modules['mxnet'].__file__ = '/real'\nfrom refengine.compat import alias\nalias.install()"],
        capture_output=True, text=True, env={"PYTHONPATH": str(Path(refengine.__file__).parents[1])}, check=False)
    assert "expected no mxnet in this process yet, but it is loaded from /real" in done.stderr


def test_install_and_remove_in_this_process() -> None:
    from refengine.compat import alias

    alias.install()
    alias.install()
    try:
        import mxnet

        assert mxnet is refengine
    finally:
        alias.remove()
    assert "mxnet" not in sys.modules


def test_script_runs_as_python_runs_it(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("value = 41\n")
    script = tmp_path / "script.py"
    script.write_text("import sys, helper, mxnet\nprint(__name__, sys.argv[1:], helper.value, __file__)\nsys.exit(3)\n")
    done = run("run", str(script), "--flag", "x")
    assert done.returncode == 3
    assert done.stdout == f"__main__ ['--flag', 'x'] 41 {script}\n"


def test_module_runs_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("import sys, mxnet\nprint(mxnet.__name__, sys.argv[1:])\n")
    done = run("run", "-m", "tool", "a", cwd=tmp_path)
    assert done.stdout == "refengine ['a']\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [((), "expected `run` and a program"), (("walk", "x.py"), "expected `run` and a program"),
     (("run", "none.py"), "no such file: none.py"), (("run", "-x"), "expected a script, -m MODULE or -c CODE, got -x")],
)
def test_wrong_use_is_told(arguments: tuple[str, ...], told: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "usage:" in done.stderr


def test_help() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "SCRIPT.py" in done.stdout


@pytest.mark.parametrize(
    ("name", "told"),
    [("nomodule", "no module named nomodule"),
     ("no.module", "no module named no.module: No module named 'no'"),
     ("package", "no module named package.__main__: package is a package and cannot be run by itself"),
     ("package.none", "no module named package.none"),
     ("tool.py", "no module named tool.py; to run a file, leave out -m: run tool.py"),
     ("sys", "no code to run in the module sys"),
     (".tool", "relative module names are not supported: .tool"),
     ("mxnet.nothing", "no module named mxnet.nothing: No module named 'mxnet.nothing': mxnet is answered by")],
)
def test_a_module_that_cannot_be_run_is_named(tmp_path: Path, name: str, told: str) -> None:
    """One line, and the exit code of Python itself, which is what it gives for a module that is not there."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "tool.py").write_text("")
    done = run("run", "-m", name, cwd=tmp_path)
    assert done.stderr.startswith("Error: " + told), done.stderr
    assert done.stderr.count("\n") == 1
    assert done.returncode == 1


def test_a_folder_without_a_program_is_named(tmp_path: Path) -> None:
    done = run("run", str(tmp_path))
    assert (done.returncode, done.stderr) == (1, f"Error: no __main__.py in {tmp_path}\n")
    (tmp_path / "__main__.py").write_text("print('ran')")
    assert run("run", str(tmp_path)).stdout == "ran\n"


@pytest.mark.parametrize("name", ["broken", "package.module"])
def test_a_failing_import_of_the_program_itself_keeps_its_traceback(tmp_path: Path, name: str) -> None:
    (tmp_path / "package").mkdir()
    for path in ("broken.py", "package/__init__.py"):
        (tmp_path / path).write_text("import nothing_like_this\n")
    done = run("run", "-m", name, cwd=tmp_path)
    assert done.returncode == 1
    assert "import nothing_like_this" in done.stderr
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'nothing_like_this'\n")


def test_one_gradient_is_a_list_under_the_name_of_the_release() -> None:
    from refengine import autograd, nd
    from refengine.compat import alias

    def slope() -> object:
        x = nd.array([1.0, 2.0])
        x.attach_grad()
        with autograd.record():
            y = x * x
        return autograd.grad(y, x)

    assert isinstance(slope(), nd.NDArray)
    alias.install()
    try:
        found = slope()
    finally:
        alias.remove()
    assert isinstance(found, list)
    assert found[0].asnumpy().tolist() == [2, 4]
    assert isinstance(slope(), nd.NDArray)
