import sys
from pathlib import Path

import pytest

import gevolve.suite.kernels
from gevolve.errors import GevolveError, SourceError, WorkloadError
from gevolve.workload.base import KernelWorkload
from gevolve.workload.locate import Spec, find, load_workload, spec_of

GOOD = """
from gevolve.workload.base import Case, KernelWorkload

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
    found = find(path)
    assert found.workload.name == "Saxpy"
    assert found.spec == Spec(path, "Saxpy")
    assert load_workload(found.spec).path() == Path(path).parent / "saxpy.cu"
    assert find(f"{path}:Saxpy").spec == found.spec


def test_a_path_may_be_relative(write, monkeypatch):
    path = Path(write(GOOD))
    monkeypatch.chdir(path.parent)
    assert find("saxpy.py").spec == Spec(str(path), "Saxpy")
    assert find("./saxpy.py:Saxpy").spec == Spec(str(path), "Saxpy")


def test_an_instance_leads_back_to_its_file(write):
    path = write(GOOD)
    assert spec_of(find(path).workload) == Spec(path, "Saxpy")


def test_a_helper_beside_the_file_can_be_imported(write):
    write("NAME = 'help.cu'", "help_with_saxpy.py")
    path = write(GOOD.replace('"saxpy.cu"', "__import__('help_with_saxpy').NAME"))
    assert find(path).workload.source == "help.cu"


def test_imported_workloads_and_private_bases_do_not_count(write):
    write(GOOD, "saxpy_base.py")
    path = write(
        "from saxpy_base import Saxpy\nclass _Base(Saxpy): pass\nclass Mine(_Base): pass", "mine.py"
    )
    assert find(path).spec.name == "Mine"


def test_every_workload_of_the_suite_is_found_by_name():
    names = [p.stem for p in Path(gevolve.suite.kernels.__file__ or "").parent.glob("[a-z]*.py")]
    for name in names:
        found = find(name)
        assert found.spec.place == f"gevolve.suite.kernels.{name}"
        assert load_workload(found.spec).name == found.workload.name
        assert spec_of(found.workload) == found.spec


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
        find(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "saxpy.py"
    file.write_bytes(bytes(range(256)))
    with pytest.raises(WorkloadError, match="is not Python"):
        find(str(file))


@pytest.mark.parametrize("text", ["absent.py", "absent.py:Name", "./absent", "dir/absent.cu"])
def test_no_such_file(text):
    with pytest.raises(WorkloadError, match=r"no such file: .*absent"):
        find(text)


def test_other_names():
    with pytest.raises(WorkloadError, match=r"no workload 'stencl': give a Python file"):
        find("stencl")


def test_no_such_class(write):
    with pytest.raises(WorkloadError, match="has no workload Saxpi; it has Saxpy"):
        find(write(GOOD) + ":Saxpi")


def test_gevolve_errors_pass_through(write):
    path = write("from gevolve.errors import SourceError\nraise SourceError('mine')")
    with pytest.raises(SourceError, match="mine"):
        find(path)


def test_classes_that_no_other_process_can_find():
    class Inner(KernelWorkload):
        pass

    with pytest.raises(GevolveError, match="top level"):
        spec_of(Inner())


def test_state_that_workers_would_not_have(write):
    workload = find(write(GOOD)).workload
    workload.size = 3  # type: ignore[attr-defined]
    with pytest.raises(WorkloadError, match="`size` differs"):
        spec_of(workload)
