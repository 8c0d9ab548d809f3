"""What many runs amount to: medians, spreads and means, in a table, as text and as a page."""

import json
import math
import re

import msgspec
import pytest
from rich.console import Console

from gevolve.errors import StoreError
from gevolve.program import Change
from gevolve.report.html.page import embed
from gevolve.results.outcome import in_words
from gevolve.results.page import page, page_data
from gevolve.results.table import Spread, Table, read_table, tabulate
from gevolve.results.view import percent, render
from tests.results.made import found, outcome


def shown(table, width=160):
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    with console.file:
        console.print(render(table, width=width))
    return console.export_text()


def test_seeds_are_taken_together():
    gains = (0.2, 0.0, 0.4)
    table = tabulate([outcome(gain=gain, seed=seed) for seed, gain in enumerate(gains)])
    (row,) = table.parts[0].rows
    assert row.exact.fresh == Spread(0.2, 0.0, 0.4)
    assert row.middle.seed == 0
    assert row.evaluations == 30


def test_means_as_the_paper_takes_them_and_geometric():
    part = tabulate([outcome(gain=3.0), outcome("papers/scan", gain=0.0)]).parts[0]
    assert part.exact["fresh"].arithmetic == 1.5
    assert part.exact["fresh"].geometric == pytest.approx(math.sqrt(4) - 1)
    assert part.best == 3.0


def test_exact_and_within_are_apart():
    loose = outcome(gain=0.1, within=found(0.9, id="v7", error=0.005))
    part = tabulate([loose]).parts[0]
    assert part.exact["search"].arithmetic == 0.1
    assert part.within["search"].arithmetic == 0.9
    assert "0.9" not in shown(tabulate([loose]))
    assert "90 %" in shown(tabulate([loose]))


def test_a_split_that_was_not_tried_is_not_counted():
    part = tabulate([outcome(exact=found(0.5, large=None)), outcome("papers/scan", gain=0.1)])
    assert part.parts[0].exact["large"].arithmetic == 0.1


def test_presets_and_devices_stand_side_by_side():
    table = tabulate([outcome(), outcome(preset="paper", gain=0.1), outcome(device="sim:a100")])
    assert [(part.device, part.preset) for part in table.parts] == [
        ("sim:a100", "default"),
        ("sim:t4", "default"),
        ("sim:t4", "paper"),
    ]
    assert len(page_data(table)["parts"]) == 3


def test_what_could_not_run_says_why_and_counts_nowhere():
    missing = outcome("papers/svm-a9a", gain=0, time=0.0, status="set GEVOLVE_DATA")
    table = tabulate([outcome(), missing])
    assert table.parts[0].exact["fresh"].arithmetic == 0.5
    assert table.unfinished == 1
    assert "papers/svm-a9a: seed 0: set GEVOLVE_DATA" in shown(table)
    assert "1 runs are not finished" in shown(table)


def test_what_goes_on_counts_nowhere_yet():
    table = tabulate([outcome(), outcome("papers/scan", gain=0, status="stopped")])
    assert table.parts[0].exact["fresh"].arithmetic == 0.5
    assert "papers/scan: seed 0: stopped" in shown(table)


def test_what_the_papers_report_has_a_column():
    table = tabulate([outcome("papers/svm-mnist")])
    assert table.parts[0].rows[0].paper.gain == 2.24
    assert "224 %" in shown(table)
    assert "49.48 % exact" in shown(table)


def test_a_narrow_terminal_has_fewer_columns():
    text = shown(tabulate([outcome()]), width=79)
    assert "…" not in text
    assert "held-out" in text
    assert "evals" not in text


@pytest.mark.parametrize("width", [79, 100, 120, 160, 240])
def test_nothing_is_cut_off_where_seeds_differ(width):
    text = shown(
        tabulate([outcome(gain=gain, seed=n) for n, gain in enumerate((1.1, 1.2, 3.4))]), width
    )
    assert "…" not in text
    assert "120 % (110..340)" in text
    assert ("evals" in text) is (width == 240)


def test_words_and_seeds_of_the_middle_one():
    text = shown(tabulate([outcome(gain=0.3, seed=4)]))
    assert "exact, seed 4, m1:" in text
    assert "unroll by 4 (k.cu:9)" in text


def test_many_edits_of_a_kind_are_said_once():
    loads = [("readonly", Change(f"load {n}", lines=(f"k.cu:{n}",))) for n in range(9)]
    assert in_words([*loads, ("unroll", Change("unroll by 2"))]) == [
        "load 0; 8 more of this kind (k.cu:1, k.cu:2, k.cu:3, k.cu:4, k.cu:5, k.cu:6, k.cu:7, k.cu:8)",
        "unroll by 2",
    ]
    assert in_words(loads[:2]) == ["load 0", "load 1"]


@pytest.mark.parametrize(
    ("gain", "text"), [(0.0, "0.0 %"), (0.0123, "1.2 %"), (0.4948, "49 %"), (4.12, "412 %")]
)
def test_percent(gain, text):
    assert percent(gain) == text


def test_a_table_survives_its_file(tmp_path):
    table = tabulate([outcome(), outcome(seed=1, gain=0.2)])
    file = tmp_path / "table.json"
    file.write_text(table.json())
    assert read_table(file) == table == msgspec.json.decode(table.json(), type=Table)


def test_folders_and_files_that_will_not_do(tmp_path):
    with pytest.raises(StoreError, match="holds no runs"):
        read_table(tmp_path)
    with pytest.raises(StoreError, match="no such folder"):
        read_table(tmp_path / "none")
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(StoreError, match="not a table"):
        read_table(tmp_path / "x.json")


def test_the_page_holds_the_table_and_nothing_can_break_out():
    nasty = "</script><script>document.title='broken'</script>"
    table = tabulate([outcome(exact=found(0.5, words=[nasty]))])
    made = page(table)
    assert made.count("<script") == 2
    assert embed(nasty) in made
    data = json.loads(re.search(r'id="data">(.*?)</script>', made)[1])
    assert data["kind"] == "suite"
    assert data["parts"][0]["rows"][0]["middle"]["exact"]["words"] == [nasty]
