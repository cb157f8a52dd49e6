"""Traces as they are read: what counts, what is broken, and that neither size nor malice costs much."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from random import Random
from typing import Any

import pytest

import refengine as mx
from refengine.board import growing, runs, traces
from refengine.board.runs import Board
from refengine.board.stream import EventStream, Malformed
from refengine.board.traces import Busy, TraceFile
from tests.refengine import releases

from .conftest import pair, put


def read(path: Path, file: TraceFile | None = None) -> TraceFile:
    file = file or TraceFile(path, path.name)
    file.refresh(time.monotonic() + 20)
    return file


def trace(tmp_path: Path, *events: Any) -> TraceFile:
    return read(put(tmp_path, 'trace.json', {'traceEvents': list(events)}))


def sums(file: TraceFile) -> dict[str, tuple[int, float]]:
    return {name: (row.count, row.total) for (_, name, _), row in file.rows.items()}


def feed(stream: EventStream, data: bytes, size: int) -> None:
    for at in range(0, len(data), size):
        stream.feed(data[at:at + size])


def test_text_may_come_in_any_pieces() -> None:
    document = {'first': {'a': [1, {'b': 'x"]}'}]}, 'n': -12.5e3, 'displayTimeUnit': 'ms',
                'traceEvents': [{'name': 'é\\"', 'n': 1}, 3, 'x', None, True, 12.5], 'last': [[]]}
    plain = json.dumps(document)
    for text in (plain, json.dumps(document, ensure_ascii=False, indent=3), '\ufeff' + plain):
        data = text.encode()
        for size in (1, 2, 3, 7, len(data)):
            found: list[Any] = []
            stream = EventStream(found.append)
            feed(stream, data, size)
            assert (found, stream.state) == (document['traceEvents'], 'end'), (text, size)


@pytest.mark.parametrize('text', [
    'x', '{x', '{"traceEvents": 3}', '{"traceEvents": [}', '{"traceEvents": [{"a": }]}', '{"traceEvents": [{"a" 1}]}',
    '{"traceEvents": [tree]}', '{"traceEvents": []} x', '{"a" "b"}', '{"traceEvents": [' + '[' * 100_000,
    '{"traceEvents": [{"ts": ' + '1' * 5000 + '}]}', '{"traceEvents": ["' + 'x' * (1 << 21),
])
def test_what_is_no_json_is_told_from_what_is_unfinished(text: str) -> None:
    with pytest.raises(Malformed, match='at character'):
        feed(EventStream(lambda event: None), text.encode(), 1 << 16)


def test_every_beginning_of_a_trace_is_unfinished_and_no_fault() -> None:
    whole = '{"traceEvents": [{"name": "a\\u00e9", "ts": -1.5e3, "x": [true, null, NaN, -Infinity]}, {}]}'
    for end in range(1, len(whole)):
        stream = EventStream(lambda event: None)
        stream.feed(whole[:end].encode())
        assert stream.state in ('start', 'fields', 'events')


def test_a_broken_file_is_skipped_as_a_whole(tmp_path: Path) -> None:
    events = ','.join(json.dumps(event) for event in pair('dot', 0, 1000))
    put(tmp_path, 'run/bad.json', f'{{"traceEvents": [{events}, oops]}}')
    put(tmp_path, 'run/empty.json', '')
    put(tmp_path, 'run/half.json', '{"a": 1')
    put(tmp_path, 'run/config.json', {'layers': [1, 2]})
    put(tmp_path, 'run/list.json', [1, 2])
    told: list[tuple[str, str]] = []
    board = Board(tmp_path, lambda *problem: told.append(problem))
    assert board.trace('run')['operators'] == []
    assert board.trace('run')['size'] == 0
    assert told == [('run/bad.json', f'skipped, it is not JSON: malformed at character {len(events) + 20}'),
                    ('run/empty.json', 'skipped, it is empty'),
                    ('run/half.json', 'skipped, it is not JSON: the document has no end')]
    assert [problem['file'] for problem in board.overview()['problems']] == [name for name, _ in told]
    put(tmp_path, 'run/bad.json', {'traceEvents': pair('dot', 0, 1000)})
    assert [row['name'] for row in board.trace('run')['operators']] == ['dot']


def listed(*events: Any) -> str:
    return ',\n\n'.join(json.dumps(event, indent=4) for event in events)


def appended(*dumps: list[Any]) -> str:
    """What 1.9.1 leaves after several dumps: the end of each, and behind it the events of the next."""
    tail = '\n    ],\n    "displayTimeUnit": "ms"\n}\n'
    return '{\n    "traceEvents": [' + f'{tail},\n\n'.join(listed(*events) for events in dumps) + tail


def document(*events: Any) -> str:
    return json.dumps({'traceEvents': list(events), 'displayTimeUnit': 'ms'}) + '\n'


A, B, C = pair('a', 0, 1000), pair('b', 2000, 2500), pair('c', 3000, 3100)
ABC = {'a': (1, 1000.0), 'b': (1, 500.0), 'c': (1, 100.0)}
HALF = document(B[0])[:-28]


@pytest.mark.parametrize(('text', 'found', 'problems'), [
    (appended(A, B, C), 'abc', []),
    (document(*A) + document(*B) + document(*C), 'abc', []),
    ('{"made by": "x"}' + document(*A), 'a', []),
    ('{\n    "traceEvents": [\n,\n\n' + listed(*A) + '\n    ]}', 'a', []),
    (document(*A) + HALF, 'a', ['unfinished: the program may still be running; shown as far as it goes']),
    (document(*A) + HALF + document(*C), 'ac', ['document 2 has no end, another one begins in it', '1 spans without']),
    (document(*A) + HALF + ', {"name": "x\n' + document(*C), 'ac', ['document 2 has no end', '1 spans without an end']),
    (document(*A) + HALF + ', {"name"' + document(*C), 'ac', ['document 2 is damaged', '1 spans without an end']),
    (document(*A) + document(*B)[:-28] + 'oops' + document(*C), 'abc', ['document 2 is damaged']),
    (f'{{"traceEvents": [{listed(*A)}, oops]}}' + document(*B), 'ab', ['document 1 is damaged']),
    (document(*A) + '{"traceEvents": 3}' + document(*C), 'ac', ['document 2 is damaged']),
    (document(*A) + 'oops' + document(*B), 'ab', ['what follows document 1 is left out, it is not JSON']),
    (document(*A) + '\0' * 300_000 + document(*B), 'ab', ['what follows document 1 is left out, it is not JSON']),
    (document(*A) + 'oops', 'a', ['what follows document 1 is left out, it is not JSON']),
    (appended(A, B) + ',\n\n{"name"', 'ab', ['unfinished']),
    (appended(A, B) + ',\n\n{"name" x}', 'ab', ['document 1 is damaged']),
])
@pytest.mark.parametrize('piece', [7, 1 << 18])
def test_all_documents_of_a_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, found: str,
                                          problems: list[str], piece: int) -> None:
    if piece < 10 and len(text) > 10_000:
        text = text.replace('\0' * 300_000, '\0' * 300)
    monkeypatch.setattr(growing, 'CHUNK', piece)
    file = read(put(tmp_path, 'trace.json', text))
    assert file.is_trace
    assert {name: value for name, value in sums(file).items() if name in found} == {name: ABC[name] for name in found}
    assert len(file.problems) == len(problems), file.problems
    assert all(problem.startswith(start) for problem, start in zip(file.problems, problems, strict=True)), file.problems


def test_a_document_of_another_program_has_its_own_processes(tmp_path: Path) -> None:
    names = [{'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': name}} for name in ('first', 'second')]
    put(tmp_path, 'run/trace.json', document(names[0], *A) + document(names[1], *B))
    assert [lane['label'] for lane in Board(tmp_path).timeline('run')['lanes']] == ['first', 'second']
    put(tmp_path, 'run/trace.json', appended([names[0], *A], B))
    lanes = Board(tmp_path).timeline('run')['lanes']
    assert [(lane['label'], len(lane['spans'])) for lane in lanes] == [('first', 2)]


def test_many_documents_cost_no_more_than_one(tmp_path: Path) -> None:
    file = read(put(tmp_path, 'trace.json', (document(*A) + '{"traceEvents": [oops').join([''] * 3000)))
    assert sums(file)['a'][0] == 2999
    assert len(file.problems) <= traces.MOST_FAULTS + 2
    assert len(file.lanes) <= traces.MOST_LANES
    file = read(put(tmp_path, 'lines.json', '{"a": 1}\n' * 3000))
    assert not file.is_trace
    assert file.problems == []


@pytest.mark.needs_mxnet
def test_what_the_release_appends_is_read(tmp_path: Path) -> None:
    releases.run('mxnet-1.9.1', """
mx.profiler.set_config(profile_all=True, filename='trace.json')
for name in ('exp', 'log', 'sin'):
    mx.profiler.set_state('run')
    getattr(mx.nd, name)(mx.nd.ones(3)).wait_to_read()
    mx.profiler.set_state('stop')
    mx.profiler.dump()
""", tmp_path)
    text = (tmp_path / 'trace.json').read_text()
    with pytest.raises(ValueError, match='Extra data'):
        json.loads(text)
    file = read(tmp_path / 'trace.json')
    assert all((('operator', name, False) in file.rows) for name in ('exp', 'log', 'sin'))
    assert file.problems == []


def test_a_trace_that_is_being_written_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    events = [json.dumps(event) for event in pair('dot', 0, 1000) + pair('exp', 2000, 2500)]
    path = put(tmp_path, 'trace.json', '{"traceEvents": [' + ','.join(events[:2]) + ',' + events[2][:9])
    file = read(path)
    assert sums(file) == {'dot': (1, 1000.0)}
    assert file.problems == ['unfinished: the program may still be running; shown as far as it goes']
    with path.open('a') as stream:
        stream.write(events[2][9:] + ',' + events[3] + ']}')
    assert sums(read(path, file)) == {'dot': (1, 1000.0), 'exp': (1, 500.0)}
    assert file.problems == []


def test_nested_and_overlapping_spans_find_their_ends(tmp_path: Path) -> None:
    inner = pair('f', 10, 20)
    outer = pair('f', 0, 100)
    other = pair('g', 15, 60)
    nameless = [{'ph': 'B', 'name': 'h', 'ts': 200, 'pid': 0, 'tid': 1}, {'ph': 'E', 'ts': 230, 'pid': 0, 'tid': 1}]
    file = trace(tmp_path, outer[0], inner[0], other[0], inner[1], other[1], outer[1], *nameless,
                 {'ph': 'X', 'name': 'x', 'ts': 5, 'dur': 7, 'pid': 1, 'tid': 1})
    assert sums(file) == {'f': (2, 110.0), 'g': (1, 45.0), 'h': (1, 30.0), 'x': (1, 7.0)}
    row = file.rows['operator', 'f', False]
    assert (row.least, row.most) == (10.0, 100.0)


def test_operators_that_are_written_twice_are_counted_once(tmp_path: Path) -> None:
    once = pair('dot', 0, 1000)
    twice = once + [{**event, 'ph': event['ph'].lower(), 'pid': 9, 'id': 1} for event in once]
    call = [{**event, 'ph': event['ph'].lower(), 'id': 1} for event in pair('Invoke', 0, 1200, cat='API')]
    put(tmp_path, 'run/trace.json', {'traceEvents': twice + call})
    board = Board(tmp_path)
    assert {row['name']: row['count'] for row in board.trace('run')['operators']} == {'dot': 1, 'Invoke': 1}
    shown = board.timeline('run')
    assert (shown['spans'], shown['shown']) == (2, 2)


@pytest.mark.parametrize('event', [
    3, None, [], 'x', {'ph': 'B'}, {'ph': 'B', 'ts': 'now'}, {'ph': 'B', 'ts': 1e999}, {'ph': 'B', 'ts': True},
    {'ph': 'E', 'ts': 1, 'name': 'never begun'}, {'ph': 'X', 'ts': 1}, {'ph': 'X', 'ts': 1, 'dur': -1},
    {'ph': 'C', 'ts': 1, 'args': [1]}, {'ph': 'C', 'ts': 1, 'args': {'a': 'x'}}, {'ph': 'B', 'ts': 10**400},
])
def test_odd_events_are_counted_and_do_no_harm(tmp_path: Path, event: Any) -> None:
    file = trace(tmp_path, *pair('dot', 0, 5), event, {'ph': 'Z', 'ts': 1}, {'ph': 'M', 'args': 3},
                 *pair('exp', 6, 8, pid={'a': [1]}, tid=None, id=[3]))
    assert sums(file) == {'dot': (1, 5.0), 'exp': (1, 2.0)}
    assert file.problems == ['1 events have no form that is known']


def test_memory_is_bounded_whatever_the_size(tmp_path: Path) -> None:
    path = tmp_path / 'trace.json'
    with path.open('w') as stream:
        stream.write('{"traceEvents": [' + ','.join(
            json.dumps({'name': f'n{n}', 'ph': 'BEXC'[n % 4], 'ts': n, 'dur': n % 7, 'pid': n % 1000, 'tid': n,
                        'cat': str(n), 'args': {str(n): n}}) for n in range(24_000)) + ']}')
    tracemalloc.start()
    file = read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 2_000_000
    assert peak < 16 << 20
    assert len(file.rows) <= traces.MOST_NAMES + 2
    assert len(file.spans) <= traces.MOST_SPANS
    assert len(file.lanes) <= traces.MOST_LANES
    assert len(file.counters) <= traces.MOST_COUNTERS
    assert sum(row.count for row in file.rows.values()) == file.span_count == 6_000
    assert f'more than {traces.MOST_NAMES} names; the further ones are added up' in file.problems


def test_the_longest_spans_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, 'MOST_SPANS', 3)
    file = trace(tmp_path, *({'ph': 'X', 'name': str(n), 'ts': n, 'dur': (n * 7) % 10} for n in range(10)))
    assert sorted(span[0] for span in file.spans) == [7.0, 8.0, 9.0]
    assert (file.span_count, file.start, file.end) == (10, 0.0, 16.0)
    monkeypatch.setattr(traces, 'MOST_SPANS', 100)      # of those that are alike, some of every time
    file = trace(tmp_path, *({'ph': 'X', 'name': 'x', 'ts': n, 'dur': 1} for n in range(4000)))
    assert 10 <= sum(span[2] < 1000 for span in file.spans) <= 40
    assert 10 <= sum(span[2] >= 3000 for span in file.spans) <= 40


def test_a_profile_of_this_engine_is_read(tmp_path: Path) -> None:
    from refengine.profiler.session import session

    session.forget()
    (tmp_path / 'run').mkdir()
    try:
        mx.profiler.set_config(filename=str(tmp_path / 'run' / 'profile.json'), aggregate_stats=True)
        mx.profiler.set_state('run')
        a = mx.nd.ones((20, 20))
        for _ in range(5):
            mx.nd.dot(a, a).wait_to_read()
        mx.profiler.set_state('stop')
        table = json.loads(mx.profiler.dumps(format='json'))['Time']['operator']['dot']
        mx.profiler.dump()
    finally:
        session.forget()
    board = Board(tmp_path)
    row = next(row for row in board.trace('run')['operators'] if row['name'] == 'dot')
    assert (row['category'], row['count'], row['count']) == ('operator', 5, table['Count'])
    assert row['total'] == pytest.approx(table['Total'], abs=0.01)
    shown = board.timeline('run')
    assert 'cpu/0' in {lane['label'] for lane in shown['lanes']}
    assert {counter['name'] for counter in shown['counters']} == {'Memory: cpu/0'}
    assert board.overview()['problems'] == []


def test_only_some_traces_are_kept_and_all_can_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, 'MOST_TRACES', 3)
    for n in range(6):
        put(tmp_path, f'run-{n}/trace.json', {'traceEvents': pair(f'op{n}', 0, 1000)})
    board = Board(tmp_path)

    def kept() -> list[int]:
        return [n for n in range(6) if board._runs[f'run-{n}'].traces[f'run-{n}/trace.json'].rows]

    for _ in range(2):
        assert [run['traces'] for run in board.overview()['runs']] == [1] * 6
        assert kept() == [0, 1, 2]
    for n in (5, 0, 4):
        assert [row['name'] for row in board.trace(f'run-{n}')['operators']] == [f'op{n}']
    assert kept() == [0, 4, 5]
    assert [run['traces'] for run in board.overview()['runs']] == [1] * 6
    assert kept() == [0, 4, 5]
    (tmp_path / 'run-5' / 'trace.json').unlink()
    board.overview()
    assert len(board._recent) == 3      # the next one takes its place


def test_damaged_text_reads_alike_in_any_pieces() -> None:
    events = [*pair('dot', 0, 12.5), 'é', [True]]
    whole = json.dumps({'a': [1, {'b': None}], 'traceEvents': events, 'z': 'end'}, ensure_ascii=False).encode()
    pieces = [b'', b'"', b'[', b']', b'}', b',', b'-', b'1e', b'\xff', b'nul']
    random = Random(5)
    outcomes = set()
    for _ in range(600):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            at = random.randrange(len(damaged))
            damaged[at:at + random.randrange(3)] = random.choice(pieces)
        seen = []
        for size in (len(damaged), 1, 5):
            found: list[Any] = []
            stream = EventStream(found.append)
            try:
                feed(stream, bytes(damaged), size)
                stream.settle()
            except Malformed:
                found = []
            seen.append((found, stream.state))
        outcomes.add(seen[0][1])
        assert seen[0] == seen[1] == seen[2], damaged
    assert outcomes >= {'end', 'events', 'fields'}


def test_damaged_documents_read_alike_in_any_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens to a file of several documents, the last one is found as long as its head is whole."""
    path = tmp_path / 'trace.json'
    whole = (appended(A[:1], A[1:]) + document(*B)).encode()
    pieces = [b'', b'"', b'[', b']', b'}', b',', b'{', b'-', b'\xff', b'nul', b'\n\n']
    random = Random(6)
    told = set()
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            at = random.randrange(30, len(damaged))     # it begins like a trace
            damaged[at:at + random.randrange(40)] = random.choice(pieces)
        path.write_bytes(bytes(damaged) + document(*C).encode())
        seen = []
        for size in (1 << 18, 1, 7):
            monkeypatch.setattr(growing, 'CHUNK', size)
            file = read(path)
            seen.append((sums(file), file.problems))
        assert seen[0] == seen[1] == seen[2], bytes(damaged)
        assert seen[0][0].get('c') == ABC['c'], bytes(damaged)
        told |= {problem.partition(' ')[0] for problem in seen[0][1]}
    assert told >= {'document', '1'}


@pytest.mark.parametrize('origin', [0, 1_795_996_780_034_800])
def test_how_busy_a_lane_was_is_known_whatever_the_length(origin: int) -> None:
    busy = Busy()
    for n in reversed(range(3000)):                     # a quarter of the time, then half of it
        busy.add(origin + 1000 * n, 250 if n < 1500 else 500)
    parts = busy.fractions()
    assert 256 <= len(parts) <= traces.BUSY_PARTS
    assert busy.first * busy.width <= origin < (busy.first + 1) * busy.width
    assert sum(parts) * busy.width == pytest.approx(1500 * 750, rel=0.01)
    assert parts[20] == pytest.approx(0.25, abs=0.05)
    assert parts[-20] == pytest.approx(0.5, abs=0.05)
    busy.add(origin, 3_000_000)                         # everything lies within this one
    assert max(busy.fractions()) == 1.0
