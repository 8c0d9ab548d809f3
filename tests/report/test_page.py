"""One file that opens offline: what is embedded, and that nothing in it can break out."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.synthetic.runs import make, nasty
from gevolve.report.html.build import report
from gevolve.report.html.page import embed, render


def data_of(page):
    """What a browser would read from the page."""
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    )


@given(st.text())
def test_any_text_survives_embedding_and_ends_nothing(text):
    page = render(text, {"kind": "run", "text": text})
    assert data_of(page)["text"] == text
    assert page.count("<script") == 2
    assert embed(text).isascii()
    assert not re.search("[<>&]", embed(text))


def test_names_and_messages_stay_data(tmp_path):
    page = report(nasty(tmp_path / "run")).read_text()
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "<!--" not in page
    assert "document.title='broken'" in data_of(page)["run"]["workload"]


def test_nothing_is_fetched_and_no_other_script_may_run(tmp_path):
    page = report(make(tmp_path / "run", 40), output=tmp_path / "page.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src &#x27;none&#x27;; script-src &#x27;sha256-")
    assert "connect-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
