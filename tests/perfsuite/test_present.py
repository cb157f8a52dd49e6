"""Tables, markdown and JSON say the same, with units and conditions."""

import io
import json

from click.testing import CliRunner
from rich.console import Console

from conformance.cli import main
from perfsuite import present
from perfsuite.compare import Comparison, Measured

COMPARISONS = [
    Comparison("copyto", "bandwidth", "1MB", "byte", 1 << 20, (
        Measured("ours", (1e-4, 1e-4)), Measured("theirs", (2e-4, 2e-4)))),
    Comparison("exchange_2bit", "compression", "1M", "byte", 4 << 20, (
        Measured("ours", (1e-3,), {"ratio": 16}), Measured("theirs", void="WrongResult: [red]no"))),
]


def test_markdown_has_rates_ratios_gaps_and_conditions():
    text = present.markdown(COMPARISONS, "measured somewhere")
    assert "| copyto/1MB | 10.5 GB/s | 5.24 GB/s | 2.00x [2.00, 2.00] faster |" in text
    assert "| exchange_2bit/1M | 4.19 GB/s | — | — |" in text
    assert "- no number: exchange_2bit/1M on theirs: WrongResult: [red]no" in text
    assert "- exchange_2bit/1M: ratio 16" in text
    assert text.rstrip().endswith("measured somewhere")


def test_terminal_tables_show_engine_text_as_it_is():
    console = Console(file=io.StringIO(), width=120)
    present.print_tables(console, COMPARISONS, "measured somewhere")
    shown = console.file.getvalue()
    assert "vs theirs" in shown
    assert "2.00x [2.00, 2.00]" in shown
    assert "WrongResult: [red]no" in shown


def test_json_keeps_the_samples():
    parsed = json.loads(present.as_json(COMPARISONS, "measured somewhere"))
    assert parsed["comparisons"][0]["ratios"]["theirs"]["value"] == 2.0
    assert parsed["comparisons"][0]["measured"][1]["seconds"] == [2e-4, 2e-4]
    assert parsed["comparisons"][1]["ratios"]["theirs"] is None


def test_small_operations_are_shown_as_time_per_call():
    small = Comparison("small_add", "dispatch", "8", "call", 200, (Measured("ours", (200e-6,)),))
    assert "1 µs" in present.markdown([small], "")


def test_the_list_of_records_shows_no_marks_around_code():
    listed = CliRunner().invoke(main, ["perf", "list"])
    assert listed.exit_code == 0
    assert "source.copy() into a new array." in listed.output
    assert "`" not in listed.output
