"""A suite of a thousand trivial cases, to measure what the harness itself costs."""

from conformance.case import case


@case("MINI-TRIVIAL-001", samples={f"n{number:03d}": {} for number in range(1000)})
def trivial(mx, check):
    check.equal(1, 1)
