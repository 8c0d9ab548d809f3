import sys
from pathlib import Path

import pytest

from gevolve.errors import GevolveError, SourceError, WorkloadError
from gevolve.suite import PAPERS, SUITE, tuned
from gevolve.workload.catalog import full_name
from gevolve.workload.kernel import KernelWorkload
from gevolve.workload.locate import Location, locate, location_of

GOOD = """
from gevolve.workload.base import Case
from gevolve.workload.kernel import KernelWorkload

class Saxpy(KernelWorkload):
    source = "saxpy.cu"
"""


@pytest.fixture(autouse=True)
def clean_imports(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    before = sys.modules.copy()
    yield
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]


@pytest.fixture
def write(tmp_path):
    def write(text, name="saxpy.py"):
        file = tmp_path / name
        file.write_text(text)
        return str(file)

    return write


def test_a_file_with_one_workload(write):
    path = write(GOOD)
    found = locate(path)
    assert found.name == "Saxpy"
    assert location_of(found) == Location(path, "Saxpy")
    assert location_of(found).build().path() == Path(path).parent / "saxpy.cu"
    assert location_of(locate(f"{path}:Saxpy")) == location_of(found)


def test_a_path_may_be_relative(write, monkeypatch):
    path = Path(write(GOOD))
    monkeypatch.chdir(path.parent)
    assert location_of(locate("saxpy.py")) == Location(str(path), "Saxpy")
    assert location_of(locate("./saxpy.py:Saxpy")) == Location(str(path), "Saxpy")


def test_an_instance_leads_back_to_its_file(write):
    path = write(GOOD)
    assert location_of(locate(path)) == Location(path, "Saxpy")


def test_a_helper_beside_the_file_can_be_imported(write):
    write("NAME = 'help.cu'", "help_with_saxpy.py")
    path = write(GOOD.replace('"saxpy.cu"', "__import__('help_with_saxpy').NAME"))
    assert locate(path).source == "help.cu"


def test_imported_workloads_and_private_bases_do_not_count(write):
    write(GOOD, "saxpy_base.py")
    path = write(
        "from saxpy_base import Saxpy\nclass _Base(Saxpy): pass\nclass Mine(_Base): pass", "mine.py"
    )
    assert location_of(locate(path)).name == "Mine"


def test_every_workload_of_the_suite_is_found_by_name():
    names = [p.stem for p in Path(tuned.__file__ or "").parent.glob("[a-z]*.py")]
    for name in names:
        found = locate(f"tuned/{name}")
        location = location_of(found)
        assert location.place == f"gevolve.suite.tuned.{name}"
        assert location.build().name == found.name


def test_a_name_without_its_group_is_the_papers_or_the_only_one():
    own = [full.partition("/")[2] for full in SUITE]
    for full in SUITE:
        group, _, name = full.partition("/")
        alone = own.count(name) == 1
        assert full_name(name) == (full if alone else f"papers/{name}")
        assert alone or group == "papers" or f"papers/{name}" in PAPERS
    assert locate("hotspot").path().parent.name == "papers"
    assert locate("gemm").path().parent.name == "tuned"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "saxpy.py has no workload: define a subclass of gevolve.KernelWorkload"),
        (GOOD + "class B(Saxpy): pass", "several workloads (Saxpy, B); name one, as in saxpy.py:S"),
        ("def f(:\n", "saxpy.py:1 is not Python: SyntaxError"),
        ("x = 1\n\nx.y\n", "saxpy.py:3 cannot be imported: AttributeError: 'int' object"),
        ("import nothing_of_this_name\n", "saxpy.py:1 cannot be imported: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", "saxpy.py:2 exits when imported"),
        ("a = b'\0'\n", "is not Python"),
        (GOOD + "    def __init__(self, n): pass", "Saxpy() cannot be built without arguments"),
    ],
)
def test_files_that_will_not_do(write, text, words):
    path = write(text)
    with pytest.raises(WorkloadError) as caught:
        locate(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "saxpy.py"
    file.write_bytes(bytes(range(256)))
    with pytest.raises(WorkloadError, match="is not Python"):
        locate(str(file))


@pytest.mark.parametrize("text", ["absent.py", "absent.py:Name", "./absent", "dir/absent.cu"])
def test_no_such_file(text):
    with pytest.raises(WorkloadError, match=r"no such file: .*absent"):
        locate(text)


def test_other_names():
    with pytest.raises(WorkloadError, match=r"no workload 'stencl': give a Python file"):
        locate("stencl")


def test_no_such_class(write):
    with pytest.raises(WorkloadError, match="has no workload Saxpi; it has Saxpy"):
        locate(write(GOOD) + ":Saxpi")


def test_gevolve_errors_pass_through(write):
    path = write("from gevolve.errors import SourceError\nraise SourceError('mine')")
    with pytest.raises(SourceError, match="mine"):
        locate(path)


def test_classes_that_no_other_process_can_find():
    class Inner(KernelWorkload):
        pass

    with pytest.raises(GevolveError, match="top level"):
        location_of(Inner())


def test_state_that_workers_would_not_have(write):
    workload = locate(write(GOOD))
    workload.size = 3  # type: ignore[attr-defined]
    with pytest.raises(WorkloadError, match="`size` differs"):
        location_of(workload)
