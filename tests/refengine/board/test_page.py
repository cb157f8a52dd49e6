"""The page in a real headless Chromium: it draws, follows the keyboard and new data, and shows hostile text as text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refengine.board.runs import Board
from refengine.board.server import Server
from tests.reports.browser import set_view

from .conftest import pair, put, scalar

pytestmark = pytest.mark.needs_chromium

HOSTILE = '"><img src=x onerror="document.title=\'taken\'"><script>document.title="taken"</script>&amp;\u202e'


class Page:
    """The page open in the browser."""

    def __init__(self, window: Any, url: str) -> None:
        self.window, self.url = window, url

    def open(self, view: str = 'scalars', run: str = '', dark: bool = False, width: int = 1280) -> Page:
        set_view(self.window, width, 900, dark=dark)
        self.window.get('about:blank')
        self.window.get_log('browser')
        self.window.get(self.url + f'/#view={view}&run={run}')
        self.wait("document.getElementById('status').textContent.startsWith('Updated')")
        return self

    def js(self, code: str, *arguments: Any) -> Any:
        return self.window.execute_script(code, *arguments)

    def texts(self, selector: str) -> list[str]:
        return self.js('return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)', selector)

    def attribute(self, selector: str, name: str) -> str:
        return self.js('return document.querySelector(arguments[0]).getAttribute(arguments[1])', selector, name)

    def shown(self, selector: str) -> bool:
        return self.js('return document.querySelector(arguments[0]).getClientRects().length > 0', selector)

    def click(self, selector: str) -> None:
        self.js('document.querySelector(arguments[0]).click()', selector)

    def set(self, selector: str, value: str) -> None:
        self.js("""const e = document.querySelector(arguments[0]); e.value = arguments[1];
                   for (const kind of ['input', 'change']) e.dispatchEvent(new Event(kind, {bubbles: true}))""",
                selector, value)

    def press(self, selector: str, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        self.js('document.querySelector(arguments[0]).focus()', selector)
        ActionChains(self.window, duration=0).send_keys(*keys).perform()

    def wait(self, condition: str) -> None:
        code = """const done = arguments[0], until = performance.now() + 9000;
                  (function again() {
                    const met = Boolean(CONDITION);
                    if (met || performance.now() > until) { done(met); } else { setTimeout(again, 20); }
                  }())"""
        assert self.window.execute_async_script(code.replace('CONDITION', condition)), condition

    def look(self) -> None:
        """Have the page look for new data now, as when somebody comes back to it."""
        self.js("document.dispatchEvent(new Event('visibilitychange'))")

    def rest(self, seconds: float) -> None:
        """Let the page do what it has to do."""
        self.window.execute_async_script('setTimeout(arguments[1], 1000 * arguments[0])', seconds)

    def complaints(self) -> list[str]:
        """What the browser had to say, but for requests that the server refused on purpose."""
        return [entry['message'] for entry in self.window.get_log('browser') if entry['level'] in ('SEVERE', 'WARNING')]


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('logs')
    for run, factor in (('first', 1.0), ('second', 2.0)):
        lines = [scalar('train/loss', step, factor / (1 + step), 1.7e9 + step) for step in range(0, 300, 3)]
        lines += [scalar('train/odd', 1, 'NaN'), scalar('train/odd', 2, 5.0), scalar('train/odd', 3, 'Infinity')]
        put(folder, f'{run}/scalars.jsonl', ''.join(lines))
        events = [{'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': 'cpu/0'}}]
        for n in range(20):
            events += pair('dot', n * 1000, n * 1000 + 500 * factor) + pair('exp', n * 1000 + 700, n * 1000 + 710)
            events.append({'ph': 'C', 'name': 'Memory', 'cat': 'Device Storage', 'pid': 1, 'ts': n * 1000,
                           'args': {'Memory': n}})
        put(folder, f'{run}/profile.json', {'traceEvents': events})
    return folder


@pytest.fixture(scope='module')
def page(chromium: Any, folder: Path) -> Iterator[Page]:
    with Server(Board(folder), '127.0.0.1', 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield Page(chromium, server.url)
        chromium.get('about:blank')
        server.shutdown()
        thread.join(10)


CURVES = "document.querySelectorAll('.chart[data-tag=\"train/loss\"] .curve')"
LEGEND = '.chart[data-tag="train/loss"] .legend'


@pytest.mark.parametrize('dark', [False, True])
def test_scalars_of_several_runs_lie_over_each_other(page: Page, dark: bool) -> None:
    page.open(dark=dark)
    page.wait(f'{CURVES}.length === 2')
    assert page.texts('#runs .run-name') == ['first', 'second']
    assert page.texts('.chart h3') == ['train/loss', 'train/odd']
    assert page.js('return document.documentElement.dataset.theme') == ('dark' if dark else 'light')
    strokes = page.js(f'return [...{CURVES}].map(e => getComputedStyle(e).stroke)')
    assert len(set(strokes)) == 2
    assert page.texts(LEGEND + ' b') == ['0.003356', '0.006711']
    label = page.attribute('.chart[data-tag="train/loss"] svg.plot', 'aria-label')
    assert label == 'train/loss, 2 runs. first ends at 0.003356, second ends at 0.006711. Arrow keys read values.'
    page.click('#runs input')
    page.wait(f'{CURVES}.length === 1')
    assert page.texts(LEGEND + ' .run') == ['second']
    page.click('#runs-all')
    page.wait(f'{CURVES}.length === 2')
    assert page.complaints() == []


def test_what_is_not_finite_is_marked(page: Page) -> None:
    page.open()
    page.wait("document.querySelectorAll('.chart[data-tag=\"train/odd\"] .odd').length === 4")
    assert '\u00d7 4 values not finite' in page.texts('.chart[data-tag="train/odd"] .where')[0]
    assert page.texts('.chart[data-tag="train/odd"] b') == ['∞', '∞']


def test_keys_read_values_and_tools_change_the_charts(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.open()
    page.wait(f'{CURVES}.length === 2')
    plot = '.chart[data-tag="train/loss"] svg.plot'
    page.press(plot, Keys.HOME)
    assert page.texts(LEGEND + ' .where span')[0] == 'At step 0'
    assert page.texts(LEGEND + ' b') == ['1', '2']
    page.press(plot, Keys.ARROW_RIGHT)
    assert page.texts(LEGEND + ' b') == ['0.25', '0.5']
    before = page.attribute('.chart[data-tag="train/loss"] .curve', 'd')
    page.click('#log')
    page.wait(f"{CURVES}[0].getAttribute('d') !== {json.dumps(before)}")
    page.set('#smooth', '0.5')
    page.wait(f'{CURVES}.length === 4')
    page.click('input[value=time]')
    page.wait(f"document.querySelector('{plot}').textContent.includes('min')")
    page.set('#tag-filter', 'odd')
    assert page.texts('.chart h3') == ['train/odd']
    page.set('#tag-filter', 'none')
    assert page.texts('.nothing') == ['No tag has this in its name.']
    assert page.complaints() == []


def test_dragging_zooms_a_chart(page: Page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page.open()
    page.wait(f'{CURVES}.length === 2')
    chart = '.chart[data-tag="train/loss"]'
    assert not page.shown(chart + ' .chart-head button')
    plot = page.window.find_element('css selector', chart + ' svg.plot')
    mouse = ActionChains(page.window, duration=50)
    mouse.move_to_element_with_offset(plot, -60, 0).click_and_hold().move_by_offset(40, 5).move_by_offset(40, 5)
    mouse.release().perform()
    assert page.texts(chart + ' .chart-head button') == ['Whole range', 'Enlarge']
    assert page.shown(chart + ' .chart-head button')
    zoomed = page.texts(chart + ' svg text')
    page.click(chart + ' .chart-head button')
    assert page.texts(chart + ' svg text') != zoomed
    assert not page.shown(chart + ' .chart-head button')


def test_nothing_is_drawn_anew_while_nothing_changes(page: Page) -> None:
    page.open()
    page.wait(f'{CURVES}.length === 2')
    page.click('#tab-operators')
    page.wait("document.querySelectorAll('#operator-table tbody tr').length === 2")
    page.click('#tab-timeline')
    page.wait("document.querySelectorAll('#timeline .span').length === 40")
    for view in ('timeline', 'operators', 'scalars'):
        page.click(f'#tab-{view}')
        page.rest(0.3)
        page.js("""window.changes = [];
                   window.watch = new MutationObserver(list => { window.changes.push(...list.map(e => e.target.id)); });
                   window.watch.observe(document.getElementById('main'), {subtree: true, childList: true})""")
        page.look()
        page.rest(0.4)
        page.js('window.watch.disconnect()')
        assert page.js('return window.changes') == [], view


def test_operators_are_a_table_to_sort_and_compare(page: Page) -> None:
    page.open('operators', 'second')
    page.wait("document.querySelectorAll('#operator-table tbody tr').length === 2")
    assert page.js("return document.getElementById('operator-run').value") == 'second'
    assert page.texts('#operator-table tbody tr:first-child td') == [
        'dot', '20', '20.000', '99.0 %', '1.000', '1.000', '1.000']
    assert page.texts('#operator-facts') == ['40 calls of 2 operators took 20.2 ms']
    page.click('[data-column=name]')
    page.click('[data-column=name]')
    assert page.texts('#operator-table tbody td.name') == ['exp', 'dot']
    assert page.attribute('th:has([data-column=name])', 'aria-sort') == 'descending'
    page.set('#operator-other', 'first')
    page.wait("document.querySelectorAll('#operator-table tbody tr')[1].lastChild.textContent === '\u00d7 2'")
    assert page.texts('#operator-counters tbody td')[:2] == ['Memory', 'Device Storage']
    page.set('#operator-filter', 'zzz')
    assert page.texts('#operator-table tbody td') == ['No operator here.']
    assert not page.shown('#side')
    assert page.complaints() == []


def test_the_timeline_zooms_and_names_its_spans(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.open('timeline', 'first')
    page.wait("document.querySelectorAll('#timeline .span').length === 40")
    assert page.texts('#timeline-facts') == ['40 spans in 19.71 ms']
    assert page.texts('#timeline .lane-name') == ['cpu/0cpu/0', 'MemoryMemory']
    page.press('#timeline svg', Keys.ARROW_DOWN)
    assert page.texts('.span-detail') == ['dot · operator · 500 µs · from 0 on']
    page.press('#timeline svg', Keys.ARROW_DOWN)
    assert page.texts('.span-detail') == ['exp · operator · 10 µs · from 700 µs on']
    page.press('#timeline svg', '+', '+')
    assert page.js("return document.querySelectorAll('#timeline .span').length") < 20
    page.press('#timeline svg', '0')
    assert page.js("return document.querySelectorAll('#timeline .span').length") == 40
    page.set('#span-filter', 'exp')
    assert page.js("return document.querySelectorAll('#timeline .span.dim').length") == 20
    assert page.complaints() == []


def test_tabs_follow_the_keyboard_and_the_address(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.open()
    page.wait(f'{CURVES}.length === 2')
    page.press('#tab-scalars', Keys.ARROW_RIGHT)
    assert page.attribute('#tab-operators', 'aria-selected') == 'true'
    assert page.js('return document.activeElement.id') == 'tab-operators'
    assert page.js('return location.hash').startswith('#view=operators')
    assert page.shown('#operators')
    assert not page.shown('#scalars')


def test_new_data_shows_up_by_itself(page: Page, folder: Path) -> None:
    page.open()
    page.wait(f'{CURVES}.length === 2')
    put(folder, 'third/scalars.jsonl', scalar('train/loss', 0, 7.0) + scalar('train/loss', 1, 8.0))
    page.wait(f'{CURVES}.length === 3')
    with (folder / 'third' / 'scalars.jsonl').open('a') as stream:
        stream.write(scalar('train/loss', 2, 9.0))
    page.look()
    page.wait("document.querySelectorAll('.chart[data-tag=\"train/loss\"] b')[2].textContent === '9'")
    (folder / 'third' / 'scalars.jsonl').unlink()
    (folder / 'third').rmdir()
    page.look()
    page.wait(f'{CURVES}.length === 2')


@pytest.mark.parametrize('width', [360, 1280])
def test_hostile_text_is_text(chromium: Any, tmp_path: Path, width: int) -> None:
    name = HOSTILE.replace('/', '\u2215')
    put(tmp_path, f'{name}/scalars.jsonl',
        scalar(HOSTILE, 0, 1) + scalar(HOSTILE, 1, 2) + scalar('__proto__', 0, 1) + HOSTILE)
    put(tmp_path, f'{name}/profile.json', {'traceEvents': [
        {'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': HOSTILE}},
        *pair(HOSTILE, 0, 1000, cat=HOSTILE), *pair('constructor', 0, 900, cat='__proto__'),
        {'ph': 'C', 'name': HOSTILE, 'cat': HOSTILE, 'pid': 0, 'ts': 5, 'args': {HOSTILE: 3}}]})
    put(tmp_path, f'{name}/bad.json', '<script>')
    with Server(Board(tmp_path), '127.0.0.1', 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            page = Page(chromium, server.url).open(width=width)
            page.wait("document.querySelectorAll('.chart .curve').length >= 1")
            assert page.texts('.run-name') == [name]
            assert HOSTILE in page.texts('.chart h3')
            assert name + '/bad.json' in page.texts('#problems code')
            for view, ready in (('operators', "document.querySelectorAll('#operator-table tbody tr').length === 2"),
                                ('timeline', "document.querySelectorAll('#timeline .span').length === 2")):
                page.click(f'#tab-{view}')
                page.wait(ready)
                assert HOSTILE in ' '.join(page.texts(f'#{view}'))
                assert page.js('return document.documentElement.scrollWidth <= innerWidth')
            assert page.js("return document.querySelectorAll('img, script').length") == 2
            assert page.js('return document.title') == 'mxnet-board'
            assert page.complaints() == []
        finally:
            chromium.get('about:blank')
            server.shutdown()
            thread.join(10)


def test_an_empty_folder_says_how_to_begin(chromium: Any, tmp_path: Path) -> None:
    with Server(Board(tmp_path), '127.0.0.1', 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            page = Page(chromium, server.url).open()
            assert page.shown('#empty')
            assert page.texts('#empty-folder') == [str(tmp_path)]
            assert page.complaints() == []
        finally:
            chromium.get('about:blank')
            server.shutdown()
            thread.join(10)
