"""What a diagnosis says: layers with what was found in each, where in the program, and what to change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .source import Place

OK, NOTE, PROBLEM = 'ok', 'note', 'problem'
_MARKS = {OK: ' ', NOTE: '-', PROBLEM: '>'}


@dataclass(frozen=True)
class Finding:
    """What one layer found: ``status`` is ok, note or problem; ``change`` is what to write instead, if anything."""

    layer: int
    title: str
    status: str
    text: str
    change: str = ''
    place: Place | None = None


@dataclass
class Diagnosis:
    """Findings in the order of the layers; ``str`` gives them as text, layer by layer.

    It is true when a problem was found. ``within`` are lines that tell more of the place: a layer, a graph.
    """

    subject: str
    place: Place | None = None
    findings: list[Finding] = field(default_factory=list)
    within: list[str] = field(default_factory=list)

    def add(self, layer: int, title: str, status: str, text: str, change: str = '', place: Place | None = None) -> None:
        """Add what a layer found."""
        self.findings.append(Finding(layer, title, status, text, change, place))

    @property
    def problems(self) -> list[Finding]:
        """The findings that explain a failure."""
        return [f for f in self.findings if f.status == PROBLEM]

    @property
    def changes(self) -> list[str]:
        """What to write instead, the best proposal first."""
        return [f.change for f in (*self.problems, *(f for f in self.findings if f.status == NOTE)) if f.change]

    def layer(self, number: int) -> list[Finding]:
        """The findings of one layer."""
        return [f for f in self.findings if f.layer == number]

    def __bool__(self) -> bool:
        return bool(self.problems)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __str__(self) -> str:
        lines = [self.subject]
        if self.place is not None:
            lines += self.place.shown()
        lines += self.within
        width = max((len(f.title) for f in self.findings), default=0)
        before = None
        for finding in self.findings:
            head = f'{finding.layer} {finding.title}' if finding.layer != before else ''
            before = finding.layer
            first, *rest = finding.text.split('\n')
            lines.append(f' {_MARKS[finding.status]} {head:{width + 2}}  {first}')
            pad = ' ' * (width + 7)
            lines += [pad + line for line in rest]
            if finding.place is not None:
                lines += [pad + line.strip() for line in finding.place.shown()]
            if finding.change:
                lines += [f'{pad}change: {line}' if i == 0 else f'{pad}        {line}'
                          for i, line in enumerate(finding.change.split('\n'))]
        return '\n'.join(lines)

    __repr__ = __str__
