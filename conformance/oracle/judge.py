"""Who is wrong: decided by principle or by an independent evaluation where there is one, else left open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.oracle import plain
from conformance.oracle.answers import Answer, Difference, apart, array_of
from conformance.oracle.program import Program, subject

#: Numbers by central differences carry an error of their own.
NUMERIC = 500.0


@dataclass(frozen=True)
class Verdict:
    """wrong: the name of an engine, "both", or None where the rule is doubtful;  why: in one sentence;  rules: ids."""

    wrong: str | None
    why: str
    rules: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As a heading says it."""
        if self.wrong is None:
            return "rule doubtful"
        return "both wrong" if self.wrong == "both" else f"{self.wrong} wrong"


class Judge:
    """Gives verdicts for two engines.

    rules: operation, as programs call it -> ids of the rules about it; more may be added.
    """

    def __init__(self, names: tuple[str, str], rules: Mapping[str, Iterable[str]] | None = None) -> None:
        self.names = names
        self.rules = {name: tuple(ids) for name, ids in (rules or {}).items()}

    def verdict(self, program: Program, difference: Difference, answers: tuple[Answer, Answer]) -> Verdict:
        """The verdict about a difference; *answers* are what the engines said to the program."""
        rules = tuple(dict.fromkeys(rule for name in subject(program, difference.step)
                                    for rule in self.rules.get(name, ())))
        if difference.kind in ("crash", "hang"):
            ended = [name for name, answer in zip(self.names, answers) if answer.end]
            verb = "ends its process" if difference.kind == "crash" else "does not come to an end"
            return Verdict(ended[0] if len(ended) == 1 else "both", f"{' and '.join(ended)} {verb}", rules)
        if difference.kind == "unstable":
            changing = [name for name, text in zip(self.names, (difference.first, difference.second))
                        if text.startswith("now ")]
            return Verdict(changing[0] if len(changing) == 1 else "both",
                           "the same program gives different results in the same engine", rules)
        if difference.kind == "flags":
            return Verdict(self._flagged(answers, difference), "the switches of autograd are off outside of a record "
                           "section, after an error too", rules)
        try:
            wrong, why = self._evaluated(program, difference, answers)
        except plain.NoOpinion as reason:
            return Verdict(None, f"no independent evaluation ({reason})", rules)
        return Verdict(wrong, why, rules)

    def _flagged(self, answers: tuple[Answer, Answer], difference: Difference) -> str | None:
        left_on = [name for name, answer in zip(self.names, answers) if answer.steps[difference.step].get("flags")]
        return left_on[0] if len(left_on) == 1 else None

    def _evaluated(
        self, program: Program, difference: Difference, answers: tuple[Answer, Answer]
    ) -> tuple[str | None, str]:
        failed = ["e" in answer.steps[difference.step] for answer in answers]
        if difference.kind == "gradient":
            return self._gradient(program, difference, answers)
        try:
            scope = plain.scope_at(program, difference.step)
        except plain.Refused as reason:
            lax = [name for name, failing in zip(self.names, failed) if not failing]
            if len(lax) == 1:
                return lax[0], f"an error is due: {reason}"
            raise plain.NoOpinion("both refuse it") from None
        if failed[0] != failed[1]:
            return self.names[failed.index(True)], "the evaluation in numpy has a result where this engine raises"
        value = scope.get(difference.name)
        if not isinstance(value, plain.Plain):
            raise plain.NoOpinion("not an array")
        if program.np_shape and value.shape == (1,):
            raise plain.NoOpinion("whether it has a dimension under numpy shape semantics")
        agree = [_agrees(told, value) for told in self._told(difference, answers)]
        return self._by_agreement(agree, f"numpy gives {value.dtype} {value.shape} {_short(value.data)}")

    def _gradient(
        self, program: Program, difference: Difference, answers: tuple[Answer, Answer]
    ) -> tuple[str | None, str]:
        wanted = plain.gradients(program, difference.step).get(difference.name)
        if wanted is None:
            raise plain.NoOpinion("no gradient of this array")
        agree = []
        for told in self._told(difference, answers):
            array = array_of(told[2]) if told is not None and told[0] == "g" else None
            agree.append(array is not None and array.shape == wanted.shape
                         and apart(array, wanted, array.dtype.name, 1) < NUMERIC)
        return self._by_agreement(agree, f"finite differences give {_short(wanted)}")

    def _told(self, difference: Difference, answers: tuple[Answer, Answer]) -> list[Any]:
        """What each engine said of the variable at the statement, or last before it."""
        found = []
        for answer in answers:
            told = None
            for step in answer.steps[: difference.step + 1]:
                told = step.get("v", {}).get(difference.name, told)
            found.append(told)
        return found

    def _by_agreement(self, agree: list[bool], why: str) -> tuple[str | None, str]:
        if agree == [True, False]:
            return self.names[1], why
        if agree == [False, True]:
            return self.names[0], why
        return ("both", why) if agree == [False, False] else (None, why)


def rules_by_operation() -> dict[str, list[str]]:
    """Operation, as programs call it -> the ids of the rules of the inventory that name it."""
    from conformance.rule import load_rules

    found: dict[str, list[str]] = {}
    for rule in load_rules().values():
        for name in rule.api:
            name = name.removeprefix("mx.").removesuffix("()")
            found.setdefault(name, []).append(rule.id)
            if name.startswith("NDArray."):
                found.setdefault("nd." + name.partition(".")[2], []).append(rule.id)
    for operation, method in _METHODS.items():
        found.setdefault(operation, []).extend(found.get(f"NDArray.{method}", ()))
    return found


_METHODS = {"NDArray[]": "__getitem__", "NDArray[]=": "__setitem__", "NDArray +": "__add__", "NDArray -": "__sub__",
            "NDArray *": "__mul__", "NDArray /": "__truediv__", "NDArray %": "__mod__", "NDArray **": "__pow__",
            "NDArray +=": "__iadd__", "NDArray -=": "__isub__", "NDArray *=": "__imul__", "NDArray /=": "__itruediv__"}


def _agrees(told: Any, value: plain.Plain) -> bool:
    told = told[1] if told is not None and told[0] == "g" else told
    array = array_of(told) if told is not None and told[0] == "a" else None
    if array is None or array.dtype.name != value.dtype or array.shape != value.shape:
        return False
    wanted = plain.rounded(value.data, value.dtype)
    return apart(array, wanted if value.floating else wanted.astype(value.dtype), value.dtype, 2) <= 1


def _short(array: np.ndarray[Any, Any]) -> str:
    return " ".join(np.array2string(array, threshold=12, separator=", ").split())[:200]
