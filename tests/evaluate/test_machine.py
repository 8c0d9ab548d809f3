"""A machine that ends every child for a while, whatever runs there: no variant is to blame for it."""

import threading
from pathlib import Path

import pytest

from gevolve.evaluate.pool import Pool
from gevolve.evaluate.verdict import Verdict
from gevolve.patch import Patch
from gevolve.workload.locate import locate
from tests.evaluate import sums

WORKLOAD = """
import os, signal
from pathlib import Path
from tests.evaluate import sums

class Unwell(sums.Exact):
    source = {source!r}

    def run(self, gpu, case):
        out = super().run(gpu, case)
        if Path({flag!r}).exists() or abs(out[0] - case.x[0].sum()) > 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        return out
"""


@pytest.fixture
def flag(tmp_path):
    return tmp_path / "unwell"


@pytest.fixture
def pool(tmp_path, flag):
    source = str(Path(sums.__file__).with_name("sums.cu"))
    (tmp_path / "unwell.py").write_text(WORKLOAD.format(source=source, flag=str(flag / "now")))
    with Pool(locate(str(tmp_path / "unwell.py")), device="sim", workers=1) as pool:
        pool.prepare()
        flag.mkdir()
        yield pool


def test_what_ends_the_unedited_program_as_well_is_waited_for(pool, flag):
    (flag / "now").touch()
    threading.Timer(1.5, (flag / "now").unlink).start()
    pool.submit("one", Patch.parse("unroll i92 2 #1"))
    assert dict(pool.results())["one"].ok


def test_what_ends_a_variant_alone_is_its_own_fault(pool):
    pool.submit("one", Patch.parse("shorten i33 2 plain #1"))
    found = dict(pool.results())["one"]
    assert (found.verdict, found.detail) == (Verdict.CRASH, "SIGSEGV")
