"""The reference engine has every public function of MXNet 1.9.1 with the same parameters, save what is named."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from conformance.parity import introspect, table
from conformance.parity.document import PAGE, page

FUNCTIONS = table.load_functions()
EXCEPTIONS = table.load_exceptions()


@pytest.fixture(scope='module')
def given():
    """What the reference engine has."""
    import refengine
    return table.functions_from(introspect.survey(refengine, 'refengine'))


@pytest.mark.parametrize('space', sorted({function.space for function in FUNCTIONS.values()}))
def test_names(given, space):
    """Every name of a name space exists, with the parameters and defaults of the release."""
    wanted = {name: function for name, function in FUNCTIONS.items()
              if function.space == space and table.status_of(name, EXCEPTIONS) == 'done'}
    assert wanted
    assert table.differences(wanted, given) == {}


def test_every_exception_covers_something():
    """An exception for nothing hides nothing, and must leave the list."""
    idle = [e.names for e in EXCEPTIONS if not any(fnmatchcase(n, e.names) for n in FUNCTIONS)]
    assert idle == []


def test_what_is_excluded_is_not_there(given):
    """A function that is there after all must not be called excluded."""
    there = [n for n in FUNCTIONS if table.status_of(n, EXCEPTIONS) == 'excluded' and n in given]
    assert there == []


def test_the_page_is_current():
    """docs/parity.md is what the table and the exceptions say now."""
    assert PAGE.read_text(encoding='utf-8') == page(FUNCTIONS, EXCEPTIONS), 'run `python -m conformance.parity`'


def test_the_command_and_the_page_count_alike():
    """Names that are there but pending are done in neither."""
    import json

    from click.testing import CliRunner

    from conformance.cli.parity import command
    *rest, last = [line for line in PAGE.read_text(encoding='utf-8').splitlines() if line.startswith('| all |')]
    _, every, done, pending, excluded, _ = (cell.strip() for cell in last.strip('|').split('|'))
    told = json.loads(CliRunner().invoke(command, ['--engine', 'refengine', '--format', 'json']).stdout)
    assert rest == []
    assert told['functions'] == int(every) - int(excluded)
    assert (told['done'], len(told['pending'])) == (int(done), int(pending))
    shown = CliRunner().invoke(command, ['--engine', 'refengine', '--space', 'nd.sparse'])
    assert shown.stderr.startswith(f"{73} of {82} functions as in MXNet 1.9.1; 9 are pending, of which ")
    assert 'nd.sparse.cast_storage: there; pending: ' in shown.stdout


def test_names_are_shown_as_code():
    """Backticks in the table of exceptions are markup."""
    assert '| `NDArray.__del__` | excluded |' in PAGE.read_text(encoding='utf-8')


@pytest.mark.needs_mxnet
def test_the_table_is_that_of_the_release():
    """The checked-in list is what introspection of the release gives."""
    from conformance.engine import find_engine
    found = table.survey(find_engine('mxnet-1.9.1'))
    assert table.text_of(found) == table.FUNCTIONS.read_text(encoding='utf-8')


@pytest.mark.parametrize(('parameters', 'complaint'), [
    (None, 'missing'),
    ((('data', 'None'), ('axis', '2'), ('keepdims', 'False')), 'axis: expected default 1, got 2'),
    ((('data', 'None'), ('keepdims', 'False'), ('axis', '1')), 'expected parameters'),
    ((('data', 'None'), ('axis', '1')), 'expected parameters'),
    ((('data', 'None'), ('axis', '1'), ('keepdims', 'False'), ('more', '1')), 'expected parameters'),
    ((('data', 'None'), ('axis', '_Null'), ('keepdims', 'False')), 'axis: expected default 1, got _Null'),
])
def test_a_difference_is_noticed(parameters, complaint):
    """The comparison itself: another default, another order, a parameter less or more, nothing at all."""
    expected = table.Function('nd.f', 'operator', (('data', 'array'), ('axis', '1'), ('keepdims', 'False')))
    engine = None if parameters is None else table.Function('nd.f', 'function', parameters)
    assert complaint in table.difference(expected, engine)


def test_the_result_parameters_may_be_there():
    """out and name are parameters of every operator function, and not listed with each."""
    expected = table.Function('nd.f', 'operator', (('data', 'array'),))
    engine = table.Function('nd.f', 'function', (('data', 'None'), ('out', 'None'), ('name', 'None')))
    assert table.difference(expected, engine) == ''


@pytest.mark.parametrize('module', ['json', 'conformance'])
def test_a_module_without_arrays_is_no_engine(module):
    """It is told as an engine that stops, not by what Python says of a missing attribute."""
    from conformance.engine import Engine
    from conformance.errors import EngineFault
    with pytest.raises(EngineFault, match=f'engine {module} stops at stage array: ') as told:
        table.survey(Engine(name=module, module=module))
    assert told.value.details == ''
    assert 'Provide' in told.value.hint


@pytest.mark.parametrize(('text', 'expected'), [
    ('float, optional, default=0.100000001', '0.1'), ("int, optional, default='1'", '1'),
    ('boolean, optional, default=0', 'False'), ('Shape(tuple), optional, default=[0,0]', '(0, 0)'),
    ("int or None, optional, default='None'", 'None'), ("{'a', 'b'},optional, default='a'", "'a'"),
    ("string, optional, default=''", "''"), ('int, required', 'required'), ('float', 'unstated'),
    ('tuple of <float>, optional, default=[1]', '(1,)'),
])
def test_defaults_of_the_release(text, expected):
    """The descriptions of the release's operators, read into the text of the table."""
    assert introspect.default_of(text) == expected
