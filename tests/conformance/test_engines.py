"""Environments of engines: found, built once, never half, and clear about what is missing."""

from __future__ import annotations

import os
import stat
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from conformance.engine import Engine
from conformance.engines import interpreters, provision
from conformance.engines.interpreters import find_interpreter, probe
from conformance.engines.provision import environment_folder, installed_interpreter, interpreter_for, remove
from conformance.errors import EngineFault

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provision.FOLDER_VARIABLE, str(tmp_path / "engines"))


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A package to install, made by hand so that nothing has to be fetched."""
    path = tmp_path / "tiny_engine-1.0-py3-none-any.whl"
    files = {
        "tiny_engine.py": "__version__ = '1.0'\n",
        "tiny_engine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-engine\nVersion: 1.0\n",
        "tiny_engine-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("tiny_engine-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in files))
    return path


def engine(*requirements: str, **fields: object) -> Engine:
    given = {"name": "tiny", "module": "tiny_engine", "requirements": requirements, "python": (HERE,), **fields}
    return Engine(**given)  # type: ignore[arg-type]


def test_environment_is_built_once_and_marked(wheel: Path) -> None:
    told: list[str] = []
    tiny = engine(str(wheel))
    assert installed_interpreter(tiny) is None
    python = interpreter_for(tiny, told.append)
    assert any("making its environment" in line for line in told)
    folder = environment_folder(tiny)
    assert (folder / provision.MARKER).is_file()
    assert Path(python) == folder / "bin" / "python"
    assert sorted(path.name for path in folder.parent.iterdir() if path.is_dir()) == [folder.name]
    told.clear()
    assert interpreter_for(tiny, told.append) == python
    assert told == []
    assert remove(tiny)
    assert not remove(tiny)
    assert installed_interpreter(tiny) is None


def test_two_runs_build_it_once(wheel: Path) -> None:
    tiny, told, found = engine(str(wheel)), [], []
    threads = [threading.Thread(target=lambda: found.append(interpreter_for(tiny, told.append))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert sum("making its environment" in line for line in told) == 1


def test_other_requirements_are_another_environment(wheel: Path) -> None:
    assert environment_folder(engine("a==1")) != environment_folder(engine("a==2"))
    assert environment_folder(engine("a==1")) != environment_folder(engine("a==1", python=("3.9",)))


def test_environment_whose_python_is_gone_is_built_again(wheel: Path) -> None:
    tiny = engine(str(wheel))
    python = Path(interpreter_for(tiny))
    python.unlink()
    python.symlink_to("/nonexistent/python")
    assert installed_interpreter(tiny) is None
    assert os.access(interpreter_for(tiny), os.X_OK)


def test_half_built_environment_is_not_used(wheel: Path) -> None:
    tiny = engine(str(wheel))
    folder = environment_folder(tiny)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    assert installed_interpreter(tiny) is None


def test_package_that_does_not_import_leaves_nothing_behind(wheel: Path) -> None:
    with pytest.raises(EngineFault, match="installed, but `import another_name` fails") as caught:
        interpreter_for(engine(str(wheel), module="another_name"))
    assert "No module named" in str(caught.value)
    left = [path for path in Path(os.environ[provision.FOLDER_VARIABLE]).iterdir() if path.is_dir()]
    assert left == []


def test_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(EngineFault, match="no connection to the package index") as caught:
        interpreter_for(engine("surely-no-such-package==1"))
    assert caught.value.exit_code == 3
    assert "Connect to the network" in str(caught.value)


def test_harness_without_a_pip_uses_that_of_the_interpreter(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, commands = provision._run, []

    def without_ours(command: list[str], environment: dict[str, str] | None = None) -> object:
        commands.append(command)
        return run(["false"] if "--python" in command else command, environment)

    monkeypatch.setattr(provision, "_run", without_ours)
    assert os.access(interpreter_for(engine(str(wheel))), os.X_OK)
    assert any("ensurepip" in command for command in commands)


def test_no_pip_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    run = provision._run
    monkeypatch.setattr(provision, "_run", lambda command, environment=None: run(
        ["false"] if "--python" in command or "ensurepip" in command else command, environment))
    with pytest.raises(EngineFault, match="no pip for"):
        interpreter_for(engine("a==1"))


def test_package_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(EngineFault, match="pip could not install") as caught:
        interpreter_for(engine(str(tmp_path / "none.whl")))
    assert "  | " in caught.value.details


def test_no_suitable_interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(EngineFault, match=r"needs a 64-bit Python 3.7 or 3.6, and none was found") as caught:
        interpreter_for(engine("a==1", python=("3.7", "3.6")))
    assert "Install one of them" in caught.value.hint


def test_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(provision.FOLDER_VARIABLE, str(tmp_path / "file" / "engines"))
    with pytest.raises(EngineFault, match="cannot be used") as caught:
        interpreter_for(engine("a==1"))
    assert provision.FOLDER_VARIABLE in caught.value.hint


def test_given_interpreter_must_exist() -> None:
    assert interpreter_for(Engine("x", "x")) == sys.executable
    assert interpreter_for(Engine("x", "x", interpreter=sys.executable)) == sys.executable
    with pytest.raises(EngineFault, match="does not exist: /nowhere/python"):
        interpreter_for(Engine("x", "x", interpreter="/nowhere/python"))


def fake_python(path: Path, prints: str, status: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\nexit {status}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_interpreters_are_looked_for_on_path_and_in_pyenv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    # A shim of pyenv for a version that is not switched on: it is there, and fails.
    fake_python(tmp_path / "bin" / "python3.7", "not installed", 127)
    fake_python(tmp_path / "pyenv/versions/3.7.9/bin/python", "3.7.9 True")
    newest = fake_python(tmp_path / "pyenv/versions/3.7.16/bin/python", "3.7.16 True")
    fake_python(tmp_path / "pyenv/versions/3.7-dev/bin/python", "3.7.99 True")
    found = find_interpreter(["3.6", "3.7"])
    assert found == interpreters.Interpreter(str(newest), "3.7.16")
    assert found.minor == "3.7"


def test_32_bit_or_lying_python_is_passed_over(tmp_path: Path) -> None:
    assert probe(str(fake_python(tmp_path / "a", "3.7.9 False"))) is None
    assert probe(str(fake_python(tmp_path / "b", "hello"))) is None
    assert probe(str(tmp_path / "none")) is None
    real = probe(sys.executable)
    assert real is not None
    assert real.minor == HERE


def test_running_interpreter_is_found_without_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    found = find_interpreter([HERE])
    assert found is not None
    assert found.minor == HERE


@pytest.mark.needs_mxnet
def test_real_release_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a real release, from the user's cache."""
    import subprocess

    from conformance.engine import find_engine

    monkeypatch.delenv(provision.FOLDER_VARIABLE)
    python = interpreter_for(find_engine("mxnet-1.9.1"))
    done = subprocess.run([python, "-c", "import mxnet, numpy; print(mxnet.__version__, numpy.__version__)"],
                          capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.9.1", "1.23.5"]
