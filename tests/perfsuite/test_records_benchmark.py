"""The benchmark records under pytest-benchmark, at their quick sizes: right before and after, and timed in between."""

import pytest

import refengine
from perfsuite.record import FAMILIES, load_records

RECORDS = load_records()


@pytest.mark.parametrize("name", RECORDS)
def test_record(benchmark, name):
    record = RECORDS[name]
    workload = record.build(refengine, record.quick)
    workload.verify()
    benchmark.extra_info.update(unit=record.unit, amount=record.amount(record.quick), **workload.facts)
    benchmark.group = record.family
    benchmark.pedantic(workload.call, rounds=3, iterations=1, warmup_rounds=1)
    workload.verify()


def test_every_family_of_the_suite_has_records():
    assert {record.family for record in RECORDS.values()} == set(FAMILIES)
