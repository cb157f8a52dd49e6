"""What the script of a difference holds an engine against: what the engine did that is not found to be wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from conformance.oracle.answers import array_of
from conformance.oracle.session import Finding
from conformance.tolerance import tolerance_for

#: Larger arrays are not written into a script.
ELEMENTS = 256

#: Ways of looking that need the functions ``look`` and ``same``.
AS_SHOWN = ("value",)

_RAISED = '("raises", [kind.__name__ for kind in type(error).__mro__])'
_MESSAGE = r're.sub(r"\d+", "0", "%s: %s" % (type(error).__name__, error))[:60]'


@dataclass(frozen=True)
class Expected:
    """Parts of the script.

    status: what its exit status says;  text: EXPECTED as Python writes it, empty where one run cannot tell;  look:
    an expression for what the statement leaves, looked at even if it fails where *afterwards*;  raised: one for what
    it raises;  test: whether the two agree;  elements: whether the elements of two arrays do;  shows: how it looks.
    """

    status: str
    text: str = ""
    look: str = "'no error'"
    raised: str = _RAISED
    test: str = "found == EXPECTED"
    elements: str = "True"
    afterwards: bool = False
    shows: str = ""


def expected(finding: Finding, names: tuple[str, ...]) -> Expected:
    """What to expect of an engine, by the kind of the difference."""
    difference, kind = finding.difference, finding.difference.kind
    side = 0 if finding.verdict.wrong == names[1] else 1
    status = f"0 it does what {names[side]} did, 1 it does not: the difference is there."
    if kind in ("crash", "hang"):
        return Expected("0 it comes to its end: the difference is not there.")
    if kind == "unstable":
        return Expected("always 0: run it several times.", look=f"look({difference.name})", shows="value")
    answer = finding.answers[side]
    step = answer.steps[difference.step]
    if kind == "flags":
        flags = "[bool(mx.autograd.is_recording()), bool(mx.autograd.is_training())]"
        return Expected(status, repr(step.get("flags", [False, False])), flags, afterwards=True)
    classes = step.get("e") or ["Exception"]
    if kind == "meaning":
        return Expected(status, repr(re.sub(r"\d+", "0", f"{classes[0]}: {step.get('m', '')}")[:60]), raised=_MESSAGE)
    if kind == "error" and not difference.name:
        if "e" not in step:
            return Expected(status, repr("no error"))
        return Expected(status, repr(("raises", classes)), shows="value", test="same(found, EXPECTED)")
    told: Any = next((found["v"][difference.name] for found in reversed(answer.steps[:difference.step + 1])
                 if difference.name in found.get("v", {})), None)
    look = f"look({difference.name})"
    with_gradient = told is not None and told[0] == "g"
    if kind == "gradient":
        told, look = told[2] if with_gradient else ["p", "NoneType", "None"], f"look({difference.name}.grad)"
    elif with_gradient:
        told = told[1]
    text = _text(told)
    if text is None:
        return Expected("always 0: look at what it prints.", look=look, shows="value", afterwards=kind == "state")
    return Expected(status, repr(text), look, test="same(found, EXPECTED)", shows="value", afterwards=kind == "state",
                    elements=_elements(told, difference.step) if kind in ("value", "gradient", "state") else "True")


def _elements(told: Any, step: int) -> str:
    """As close as the session asks for."""
    rtol, atol, _ = tolerance_for(told[1] if told[0] in "an" else "float32")
    scale = 1 + step
    return f"np.allclose(one[3], two[3], {rtol * scale:g}, {atol * scale:g}, equal_nan=True)"


def _text(told: Any) -> Any:
    """An observation as ``look`` of the script gives it; None where it cannot be written down."""
    if told is None:
        return None
    if told[0] in "an":
        array = array_of(told)
        if array is None or array.size > ELEMENTS:
            return None
        return ("array" if told[0] == "a" else "numpy", told[1], tuple(told[2]), array.tolist(),
                told[4] if len(told) > 4 else "default")
    if told[0] == "f":
        return "float", "float64", (), float(told[1]), "default"
    if told[0] == "l":
        items = [_text(item) for item in told[2]]
        return None if None in items else items
    return ("raises", told[1]) if told[0] == "x" else told[-1]
