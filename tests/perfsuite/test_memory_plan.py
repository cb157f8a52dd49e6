"""What planners say, from a text as MXNet 1.9.1 writes it, and from the reference engine."""

from __future__ import annotations

import os

import pytest

import refengine as mx
from perfsuite.memory_models import MODELS, initialized
from perfsuite.memory_plan import (
    OWN_PLANNER,
    NotObservable,
    every_value,
    inner_values,
    logged_values,
    observe,
    symbol_of,
    variables,
    written_to_stderr,
)  # fmt: skip

LOG = """\
[00:00:00] ../src/executor/graph_executor.cc:60: MXNET_SUBGRAPH_BACKEND=NONE is detected
[00:00:00] ../src/executor/../common/exec_utils.h:299: node 0 var
[00:00:00] ../src/executor/../common/exec_utils.h:299: node 1 var
[00:00:00] ../src/executor/../common/exec_utils.h:301: node 2 dot
[00:00:00] ../src/executor/../common/exec_utils.h:305: \t\tinput 0: [8,300] (9 KB)
[00:00:00] ../src/executor/../common/exec_utils.h:311: \t\toutput 2: [8,100] (3 KB)
[00:00:00] ../src/executor/../common/exec_utils.h:301: node 3 topk
[00:00:00] ../src/executor/../common/exec_utils.h:311: \t\toutput 3: [8,100] (3 KB)
[00:00:00] ../src/executor/../common/exec_utils.h:311: \t\toutput 4: [8,1024] (64 KB)
[00:00:00] ../src/executor/../common/exec_utils.h:301: node 4 _backward_dot
[00:00:00] ../src/executor/../common/exec_utils.h:311: \t\toutput 5: [8,300] (9 KB)
[00:00:00] ../src/executor/../common/exec_utils.h:311: \t\toutput 6: [300,100] (117 KB)
""".splitlines()

DESCRIPTION = """\
Symbol Outputs:
\toutput[0]=top(0)
\toutput[1]=d_backward(1)
Variable:x
Variable:w
--------------------
Op:dot, Name=d
Inputs:
\targ[0]=x(0) version=0
--------------------
Op:topk, Name=top
--------------------
Op:_backward_dot, Name=d_backward
Total 3 MB allocated
"""


def test_the_log_of_a_planner_is_read_with_sizes_in_bytes() -> None:
    assert logged_values(LOG) == [("var", []), ("var", []), ("dot", [3200]), ("topk", [3200, 65536]),
                                  ("_backward_dot", [9600, 120000])]


def test_every_value_counts_but_gradients_of_the_caller() -> None:
    assert every_value(logged_values(LOG), DESCRIPTION, 1) == 3200 + 3200 + 65536 + 9600


def test_a_log_of_another_graph_is_refused() -> None:
    with pytest.raises(AssertionError, match="different graphs"):
        every_value(logged_values(LOG), DESCRIPTION.replace("Op:topk", "Op:sort"), 1)


def test_a_log_with_a_gap_is_refused() -> None:
    with pytest.raises(AssertionError, match="expected node 2"):
        logged_values([line for line in LOG if "node 2" not in line])


@pytest.mark.parametrize("name", ["mlp", "lenet", "lstm"])
def test_values_without_reuse_are_the_shapes_of_the_graph(name: str) -> None:
    model = MODELS[name]
    shapes = model.shapes(4)
    net = model.build(mx)
    found = observe(mx, net, shapes, train=False)
    by_shapes = sum(inner_values(symbol_of(mx, net, False), shapes).values())
    assert found["planned_by"] == OWN_PLANNER
    assert found["planned"] < found["in_place_only"] < found["no_reuse"]
    # The planner rounds every value up to whole cache lines.
    assert by_shapes <= found["no_reuse"] <= 1.05 * by_shapes


def test_an_engine_without_executors_is_not_observable() -> None:
    class Without:
        class sym:
            class Symbol:
                pass

    with pytest.raises(NotObservable, match="no executor"):
        observe(Without, None, {}, False)


def test_variables_are_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_SET", "before")
    monkeypatch.delenv("MEMORY_UNSET", raising=False)
    with variables(MEMORY_SET="1", MEMORY_UNSET="2"):
        assert (os.environ["MEMORY_SET"], os.environ["MEMORY_UNSET"]) == ("1", "2")
    assert (os.environ["MEMORY_SET"], os.environ.get("MEMORY_UNSET")) == ("before", None)


def test_what_compiled_code_writes_is_collected() -> None:
    with written_to_stderr() as lines:
        os.write(2, b"one\ntwo\n")
    assert lines == ["one", "two"]


def test_every_parameter_is_made_before_anything_runs() -> None:
    net = initialized(mx, MODELS["lenet"], 2)
    shapes = [parameter.data().shape for parameter in net.collect_params().values()]
    assert len(shapes) == 8
    assert all(all(n > 0 for n in shape) for shape in shapes)
