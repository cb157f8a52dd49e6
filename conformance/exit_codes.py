"""The exit codes of ``conform``: one enum, a sentence each. They are never joined by bits."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended.

    >>> ExitCode.DIFFERS.sentence
    'The engine does not conform, or differs from what the inventory records of it (a surprise).'
    """

    sentence: str

    def __new__(cls, value: int, sentence: str = "") -> ExitCode:
        member = int.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    OK = 0, "The engine conforms; for an engine with an inventory, there was no surprise."
    DIFFERS = 1, "The engine does not conform, or differs from what the inventory records of it (a surprise)."
    USAGE = 2, "The command was used wrongly: an unknown option, engine or rule, or a faulty waiver or engines file."
    ENGINE = 3, "The engine could not be provided, did not start, failed smoke, or could not be kept running."
    HARNESS = 4, "A fault of the harness or the suite itself; please report it."
    NOTHING = 5, "Nothing was run: no case was selected, or every selected one is unsupported."
    INTERRUPTED = 130, "The command was interrupted; what it had is shown, and what a run had not run is not-run."


#: The gravest first: what a run over several engines ends with.
GRAVITY = (
    ExitCode.INTERRUPTED, ExitCode.HARNESS, ExitCode.USAGE, ExitCode.ENGINE, ExitCode.DIFFERS, ExitCode.NOTHING,
    ExitCode.OK,
)


def gravest(codes: list[ExitCode]) -> ExitCode:
    """The code for a run over several engines: the gravest of theirs; nothing run if there is none.

    >>> gravest([ExitCode.OK, ExitCode.DIFFERS]).name
    'DIFFERS'
    """
    return next((code for code in GRAVITY if code in codes), ExitCode.NOTHING)
