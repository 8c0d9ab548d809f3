"""The pages in a real browser: they draw, select, follow, and complain of nothing."""

import threading
import time

import pytest

from benchmarks.synthetic.runs import Maker, make, nasty
from gevolve.evaluate.protocol import NodeStatus
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.report.html.build import report
from gevolve.report.watch import Feed, _Handler, _Server
from gevolve.results.page import page as suite_page
from gevolve.results.table import tabulate
from gevolve.run.findings import Findings, Interval
from gevolve.run.standings import Standings
from gevolve.run.store import Store, format_id
from gevolve.search import Settings
from tests.report.browser import Browser, find_chromium
from tests.results.made import outcome

pytestmark = [
    pytest.mark.skipif(find_chromium() is None, reason="needs chromium (Debian: chromium)"),
    pytest.mark.slow,
]


SETTINGS = Settings(tolerance=0.05, rounding=1e-5)


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture(autouse=True)
def quiet(browser):
    """Whatever a test does, the console stays empty."""
    browser.problems.clear()
    yield
    assert browser.run("document.documentElement.faults || []") == []
    assert browser.problems == []


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("runs") / "run", 600, explained=True)
    return report(folder).as_uri()


def test_draws_every_view(browser, page):
    browser.open(page)
    front = browser.wait("document.querySelectorAll('#front .member').length")
    assert (
        front
        == browser.run("JSON.parse(document.getElementById('data').textContent).front.length") + 2
    )
    assert "as fast" in browser.run("document.querySelector('#headline').textContent")
    sections = browser.run("[...document.querySelectorAll('section')].map((one) => one.id)")
    assert sections == [
        *("headline", "front", "progress", "change", "cost", "kinds", "verdicts", "run"),
    ]
    for drawing in ("#progress svg", "#change .node", "#change .edge", "#change .diff-row"):
        assert browser.run(f"document.querySelectorAll('{drawing}').length"), drawing
    assert browser.run("document.querySelectorAll('.code-row.touched').length")


def test_a_measurement_draws_a_bar_and_a_line_for_each_workload(browser, tmp_path):
    table = tabulate(
        [
            outcome(name, gain, seed, preset=preset)
            for name, gain in (("papers/nn", 0.5), ("papers/scan", 0.0))
            for preset in ("default", "paper")
            for seed in (0, 1)
        ]
    )
    file = tmp_path / "index.html"
    file.write_text(suite_page(table))
    browser.open(file.as_uri())
    browser.wait("document.querySelectorAll('#gains svg rect').length")
    assert browser.run("document.querySelectorAll('#gains svg rect').length") == 4
    assert browser.run("document.querySelectorAll('#table-1 tbody tr').length") == 4
    assert "25 %" in browser.run("document.querySelector('.hero .big').textContent")
    assert browser.run("document.querySelectorAll('#edits-0 ol.edits li').length") == 2


def test_an_address_selects_and_a_key_does(browser, page):
    browser.open(page)
    browser.wait("document.querySelectorAll('#front .member').length")
    first, second = browser.run(
        "[...document.querySelectorAll('#front .member')].map((one) => one.dataset.id).slice(0, 2)"
    )
    browser.run(f"location.hash = '#{first}'")
    browser.wait(f"document.querySelector('.details h3').textContent.startsWith('{first}')")
    browser.run(
        f"""document.querySelector('.member[data-id="{second}"]').dispatchEvent("""
        "new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"
    )
    assert browser.run("location.hash") == f"#{second}"
    assert browser.run("document.querySelector('.details h3').textContent").startswith(second)
    browser.open(page + f"#{first}")
    browser.wait(f"location.hash === '#{first}'")
    browser.send("Page.reload")
    browser.wait(f"document.querySelector('.details h3')?.textContent.startsWith('{first}')")


def test_hover_and_generations(browser, page):
    browser.open(page)
    x, y = browser.wait(
        "(() => { const one = document.querySelector('#front .member'); if (!one) return null;"
        " one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    browser.wait("!document.querySelector('.tip').hidden")
    assert "time ratio" in browser.run("document.querySelector('.tip').textContent")
    browser.run(
        "(() => { const one = document.querySelector('.slider input'); one.value = 2;"
        " one.dispatchEvent(new Event('input')); })()"
    )
    assert "generation 2 of" in browser.run("document.querySelector('.step').textContent")
    browser.run("document.querySelector('.play').click()")
    browser.wait("!document.querySelector('.step').textContent.startsWith('generation 2 of')")


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_the_window(browser, page, width, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.send("Emulation.setEmulatedMedia", features=features)
    browser.resize(width, 900)
    browser.open(page)
    browser.wait("document.querySelectorAll('#front .member').length")
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.resize(1280, 1000)
    browser.send("Emulation.setEmulatedMedia", features=[])


def test_prints(browser, page):
    browser.open(page)
    browser.wait("document.querySelectorAll('#front .member').length")
    assert len(browser.send("Page.printToPDF", printBackground=True)["data"]) > 20_000


def test_unvalidated_is_never_an_improvement(browser, tmp_path):
    folder = make(tmp_path / "run", 200, validated=False)
    browser.open(report(folder).as_uri())
    browser.wait("document.querySelectorAll('#front .member').length")
    text = browser.run("document.body.innerText").lower()
    assert "no improvement validated" in text
    assert "as fast" not in text.replace("fastest", "")
    assert browser.run("document.querySelectorAll('.tile.passed, .member.validated').length") == 0


def test_times_of_a_model_and_of_a_clock_are_told_apart(browser, tmp_path):
    """Each member of the front is where the model puts it, and a mark of its own says what the clock measured."""
    folder = make(tmp_path / "run", 300, validated=False)
    with Store.open(folder) as store:
        standings = Standings.read(store, SETTINGS)
        front = [id_ for id_, one in standings.front if one.patch.edits]
        for id_ in (0, *front):
            for split in ("unseen", "varied"):  # which are not timed
                store.add_validation(id_, split, Evaluation(verdict=Verdict.OK, error=0.0))
        measured = {
            format_id(id_): Interval(value=0.999, low=0.998, high=0.9995, runs=9)
            for id_, one in standings.front
            if one.patch.edits
        }
        Findings(store).add_intervals(measured)
    browser.open(report(folder).as_uri() + f"#v{front[0]}")
    browser.wait("document.querySelectorAll('#front .member').length")
    count = "document.querySelectorAll('#front .clock .{}').length"
    assert browser.run(count.format("diamond")) == len(front)
    assert browser.run(count.format("bar")) == len(front)
    place = f"+document.querySelector('.member[data-id=v{front[0]}] circle').getAttribute('cx')"
    diamond = "+document.querySelector('#front .tie').getAttribute('x2')"
    assert browser.run(f"{place} < {diamond}"), "the model has it as faster"
    assert "by the model, 0.9990 by the clock" in browser.run(
        f"document.querySelector('.member[data-id=v{front[0]}]').ariaLabel"
    )
    assert "by the clock" in browser.run(
        "document.querySelector('[aria-label=front] thead').textContent"
    )
    tiles = "[...document.querySelectorAll('.tile')].map((one) => one.textContent)"
    untimed = [text for text in browser.run(tiles) if "unseen" in text or "varied" in text]
    assert [text[:2] for text in untimed] == ["ok", "ok"]
    assert "ok, ratio" not in browser.run("document.querySelector('.details').textContent")


def test_hostile_names_are_shown_as_they_are(browser, tmp_path):
    browser.open(report(nasty(tmp_path / "run")).as_uri())
    browser.wait("document.querySelectorAll('#front .member').length")
    assert "</script><script>" in browser.run("document.querySelector('h1').textContent")
    assert "broken" not in browser.run("document.title").replace("title='broken'", "")
    assert browser.run("document.querySelectorAll('img').length") == 0


def test_machines_of_a_cluster_are_listed(browser, tmp_path):
    folder = make(tmp_path / "run", 60)
    nodes = [
        NodeStatus(name="first", state="working", workers=2, evaluations=50, rate=3.25, lost=4),
        NodeStatus(name="second", state="left out", why="numpy 1.0 there, 2.0 here"),
    ]
    with Store.open(folder) as store:
        store.set("nodes", nodes)
    browser.open(report(folder).as_uri())
    rows = "[...document.querySelectorAll('[aria-label=\"machines of the cluster\"] tbody tr')]"
    assert browser.wait(f"{rows}.length") == 2
    text = browser.run(f"{rows}.map((row) => row.textContent)")
    assert text[0].startswith("first250" + "3.3")
    assert "left out: numpy 1.0 there, 2.0 here" in text[1]


def test_compares_runs(browser, tmp_path):
    folders = [
        make(tmp_path / "a", 200),
        make(tmp_path / "b", 120, seed=5, tolerance=0.0, validated=False),
    ]
    browser.open(report(*folders, output=tmp_path / "both.html").as_uri())
    browser.wait("document.querySelectorAll('#curves path.line').length === 4")
    text = browser.run("document.body.innerText")
    assert "none validated" in text
    assert "tolerance" in browser.run("document.querySelector('#settings table').textContent")
    assert browser.run("document.querySelectorAll('#fronts circle').length") >= 2


def test_follows_a_run(browser, tmp_path):
    feed = Feed(tmp_path / "run")
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"feed": feed}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    maker = Maker()
    evaluations = (
        "+(document.querySelector('.meta')?.textContent.match(/([0-9,]+) evaluation/)?.[1] ?? -1)"
    )
    try:
        feed.refresh()
        browser.open(f"http://127.0.0.1:{server.server_port}/")
        browser.wait("!!document.querySelector('#waiting')")
        with maker.start(tmp_path / "run") as store:
            for round_ in range(1, 4):
                store.add([maker.next() for _ in range(40)])
                feed.refresh()
                browser.wait(f"{evaluations} === {40 * round_}")
            assert browser.run("document.querySelector('.pill').textContent") == "running"
            assert browser.wait("document.querySelectorAll('#front .member').length")
        feed.refresh()
        browser.wait("document.querySelector('.pill').textContent !== 'running'")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        feed.close()
        browser.open("about:blank")
        time.sleep(0.2)
        browser.run("1")
        browser.problems[:] = [one for one in browser.problems if "ERR_CONNECTION" not in one]
