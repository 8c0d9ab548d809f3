"""What the models of the suite must hold to; none of this needs a download."""

import lzma
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from gevolve.errors import WorkloadError
from gevolve.suite import MODELS, PAPERS, SUITE, TUNED, datasets, module_of
from gevolve.suite.models import weights
from gevolve.suite.models.twofcnet import STARTS
from gevolve.workload.locate import locate, location_of

SHIPPED = ["2fcnet", "mobilenet-small"]
SPLITS = ("search", "held-out")


@pytest.fixture(autouse=True)
def nothing_downloaded(monkeypatch):
    monkeypatch.delenv("GEVOLVE_DATA", raising=False)


@pytest.fixture(scope="module")
def results():
    """The outputs of the unedited programs on both splits."""
    jax = pytest.importorskip("jax")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GEVOLVE_DATA", raising=False)
        found = {}
        for name in SHIPPED:
            workload = locate(name)
            program = jax.jit(workload.program())
            for split in SPLITS:
                case = workload.data(split)
                parts = [workload._part(case, n) for n in range(workload.parts(case))]
                outputs = [program(*workload.arguments(part)) for part in parts]
                found[name, split] = jax.tree.map(lambda *each: np.stack(each), *outputs)
    return found


def rows(images):
    """Each image of 64 pixels as bytes."""
    return {image.tobytes() for image in images.reshape(-1, 64)}


def equal(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return np.array_equal(one, other)


def test_all_are_listed_and_found_by_name():
    assert SUITE == PAPERS | TUNED | MODELS
    for name in MODELS:
        found = locate(name)
        location = location_of(found)
        assert location.place == module_of(name)
        assert location.build().name == found.name
        assert location_of(locate(location.place)) == location
        short = location.place.rpartition(".")[2]
        if f"papers/{short}" not in PAPERS:  # of two with one name the first is meant
            assert location_of(locate(short)) == location


def test_names_that_only_look_like_ones_of_the_suite():
    for name in ("twofc", "models.mobilenet", "network", "datasets", "mobilenet_"):
        with pytest.raises(WorkloadError, match=r"one of papers/backprop, .*, models/resnet18"):
            locate(name)


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("split", SPLITS)
def test_data_is_the_same_every_time(name, split):
    workload = locate(name)
    one, other = workload.data(split), locate(name).data(split)
    assert list(one) == list(other)
    assert all(equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("name", SHIPPED)
def test_both_splits_fit_the_same_program(name):
    workload = locate(name)
    one, other = (workload.data(split) for split in SPLITS)
    for key in workload.inputs:
        assert weights._flat(one[key], "").keys() == weights._flat(other[key], "").keys()
        for path, array in weights._flat(one[key], "").items():
            like = weights._flat(other[key], "")[path]
            assert (array.shape, array.dtype) == (like.shape, like.dtype)
            assert array.dtype in (np.float32, np.int32)


def test_splits_of_the_network_share_no_image_with_each_other_or_with_training():
    from gevolve.suite.models.mobilenet_small import TRAINED

    workload = locate("mobilenet-small")
    search, held_out = (rows(workload.images(split).images) for split in SPLITS)
    trained = rows(datasets.digits().images[:TRAINED])
    assert len(search) == len(held_out) == workload.count
    assert not search & held_out
    assert not trained & (search | held_out)


def test_what_2fcnet_is_tested_on_neither_trains_nor_chooses():
    workload = locate("2fcnet")
    search, held_out = (workload.data(split) for split in SPLITS)
    trained = rows(search.images) | rows(held_out.images)
    assert len(trained) == 896
    assert not trained & (rows(search.unseen) | rows(held_out.unseen))
    assert not rows(search.unseen) & rows(held_out.unseen)
    assert not np.array_equal(search.weights["w1"], held_out.weights["w1"])
    assert not np.array_equal(search.labels, held_out.labels)


@pytest.mark.parametrize("split", SPLITS)
def test_errors_of_the_unedited_programs(results, split):
    small, fc = locate("mobilenet-small"), locate("2fcnet")
    scores = results["mobilenet-small", split]
    assert scores.shape == (*small.groups, 10)
    assert small.error(scores, small.data(split)) < 0.04
    trained = results["2fcnet", split]
    assert {k: v.shape for k, v in trained.items()} == {
        "w1": (STARTS, 64, 64), "b1": (STARTS, 64), "w2": (STARTS, 64, 10), "b2": (STARTS, 10)
    }  # fmt: skip
    case = fc.data(split)
    for n in range(STARTS):
        one, start = ({k: v[n] for k, v in tree.items()} for tree in (trained, case.weights))
        assert 0.01 < fc.error(one, case) < 0.07
        assert fc.error(start, case) > 0.7  # it is the training that does it


def test_the_error_is_the_share_of_wrong_answers():
    workload = locate("mobilenet-small")
    case = workload.data("search")
    right = np.eye(10, dtype=np.float32)[case.labels]
    assert workload.error(right, case) == 0
    right[0, :24] = np.roll(right[0, :24], 1, -1)
    assert workload.error(right, case) == pytest.approx(24 / workload.count)


def test_prediction_agrees_with_plain_convolutions(results):
    """The fast forms of the network against the textbook's, in double precision."""
    workload = locate("mobilenet-small")
    case = workload.data("search")
    tree = case.weights

    def relu(x):
        return np.maximum(x, 0)

    def dense(layer, x):
        return x @ layer["w"].astype(float) + layer["b"]

    def windows(x, size, stride):
        around = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        found = np.lib.stride_tricks.sliding_window_view(around, (size, size), axis=(1, 2))
        return found[:, ::stride, ::stride]  # [n, h, w, c, size, size]

    x = case.images[0].astype(float)
    stem = tree["stem"]
    x = relu(np.einsum("nhwcij,ijco->nhwo", windows(x, 4, 2), stem["w"]) + stem["b"])
    for block in tree["blocks"]:
        y = relu(dense(block["widen"], x))
        keeps = block["narrow"]["w"].shape[1] == x.shape[-1]
        each = block["each"]
        y = np.einsum("nhwcij,ijc->nhwc", windows(y, 3, 1 if keeps else 2), each["w"])
        y = dense(block["narrow"], relu(y + each["b"]))
        x = x + y if keeps else y
    scores = dense(tree["out"], relu(dense(tree["head"], x)).mean((1, 2)))
    assert np.allclose(results["mobilenet-small", "search"][0], scores, atol=1e-4)


def test_training_agrees_with_plain_gradient_descent(results):
    from gevolve.suite.models.training import RATE

    case = locate("2fcnet").data("search")
    w1, b1, w2, b2 = (case.weights[k][0].astype(float) for k in ("w1", "b1", "w2", "b2"))
    for x, labels in zip(case.images, case.labels, strict=True):
        hidden = np.maximum(x @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        odds = np.exp(scores - scores.max(1, keepdims=True))
        slope = (odds / odds.sum(1, keepdims=True) - np.eye(10)[labels]) / len(labels)
        back = slope @ w2.T * (hidden > 0)
        w2, b2 = w2 - RATE * hidden.T @ slope, b2 - RATE * slope.sum(0)
        w1, b1 = w1 - RATE * x.T @ back, b1 - RATE * back.sum(0)
    for name, want in {"w1": w1, "b1": b1, "w2": w2, "b2": b2}.items():
        assert np.allclose(results["2fcnet", "search"][name][0], want, atol=2e-3), name


def test_programs_have_the_size_that_searches_are_made_for():
    pytest.importorskip("jax")
    assert 100 <= locate("2fcnet").load().size <= 150
    assert 200 <= locate("mobilenet-small").load().size <= 400


def test_weights_of_the_shipped_networks():
    for name, most in (("mobilenet", 1e6), ("mobilenet-tiny", 3e5), ("mobilenet-small", 1e5)):
        file = weights.Path(weights.__file__).with_name(f"{name}.npz")
        assert file.stat().st_size < 8e6
        flat = weights._flat(weights.load(file), "")
        assert all(array.dtype == np.float32 for array in flat.values())
        assert all(np.isfinite(array).all() for array in flat.values())
        assert sum(array.size for array in flat.values()) < most


def test_a_tree_of_weights_survives_its_file(tmp_path):
    tree = {"a": {"w": np.eye(3)}, "blocks": [{"w": np.ones(2)}, {"w": np.zeros((1, 2))}]}
    weights.save(tmp_path / "w.npz", tree)
    assert equal(weights.load(tmp_path / "w.npz"), tree)


def cifar(folder, count, suffix=".bin"):
    data = (np.arange(count * 3073) % 251).astype(np.uint8).reshape(count, 3073)
    data[:, 0] = np.arange(count) % 10
    file = folder / "cifar10" / f"test_batch{suffix}"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(
        data.tobytes() if suffix == ".bin" else lzma.compress(data.tobytes(), preset=0)
    )
    return data


def test_mobilenet_is_as_deep_as_the_original_and_most_of_its_blocks_can_be_left_out():
    tree = locate("mobilenet").weights()
    narrow = [block["narrow"]["w"].shape for block in tree["blocks"]]
    assert len(narrow) == 17
    widths = [tree["stem"]["w"].shape[-1], *(width for _, width in narrow)]
    assert sum(one == other for one, other in pairwise(widths)) == 15
    assert len(locate("mobilenet-tiny").weights()["blocks"]) == 7


def test_the_resnet_is_that_of_the_papers_in_another_form():
    """Folded, channels last and in groups, against plain convolutions normalised afterwards."""
    jax = pytest.importorskip("jax")
    from gevolve.suite.papers.resnet18 import trained

    workload, tree = locate("models/resnet18"), trained()
    images = np.random.default_rng(0).standard_normal((2, 32, 32, 3), np.float32)

    def layer(layer, x, stride=1):
        side = layer["w"].shape[-1]
        around = np.pad(x, ((0, 0), (0, 0), *[(side // 2, side // 2)] * 2))
        found = np.lib.stride_tricks.sliding_window_view(around, (side, side), axis=(2, 3))
        y = np.einsum("nchwij,ocij->nohw", found[:, :, ::stride, ::stride], layer["w"])
        b, mean, scale, variance = (
            layer[name][:, None, None] for name in ("b", "mean", "scale", "variance")
        )
        return (y - mean) / np.sqrt(variance + 1e-5) * scale + b

    x = np.maximum(layer(tree["stem"], images.transpose(0, 3, 1, 2).astype(float)), 0)
    around = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    found = np.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(2, 3))
    x = found[:, :, ::2, ::2].max((-1, -2))
    for block in tree["blocks"]:
        short = block.get("short")
        y = np.maximum(layer(block["first"], x, 2 if short else 1), 0)
        x = np.maximum(layer(block["second"], y) + (layer(short, x, 2) if short else x), 0)
    want = x.mean((2, 3)) @ tree["out"]["w"].T + tree["out"]["b"]
    got = jax.jit(workload.program())(workload.weights(), images)
    assert np.allclose(got, want, atol=1e-3)


@pytest.mark.parametrize("suffix", [".bin", ".bin.xz"])
def test_mobilenet_takes_test_images_from_the_data_folder(tmp_path, monkeypatch, suffix):
    data = cifar(tmp_path, 2000, suffix)
    monkeypatch.setenv("GEVOLVE_DATA", str(tmp_path))
    workload = locate("mobilenet")
    search, held_out = (workload.data(split) for split in SPLITS)
    assert search.images.shape == held_out.images.shape == (100, 10, 32, 32, 3)
    assert np.array_equal(search.labels.ravel(), data[:1000, 0])
    assert np.array_equal(held_out.labels.ravel(), data[1000:, 0])
    green = (data[1001, 1 + 1024 + 5 * 32 + 7] / 255 - 0.4822) / 0.2435
    assert held_out.images[0, 1, 5, 7, 1] == pytest.approx(green, rel=1e-5)


def said(workload):
    with pytest.raises(WorkloadError) as caught:
        workload.data("search")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_mobilenet_says_what_data_it_needs(tmp_path, monkeypatch):
    workload = locate("mobilenet")
    assert re.match(
        r"set GEVOLVE_DATA to a folder with .*cifar10/ \(test_batch\.bin", said(workload)
    )
    monkeypatch.setenv("GEVOLVE_DATA", str(tmp_path))
    assert "GEVOLVE_DATA has no cifar10/test_batch.bin" in said(workload)
    cifar(tmp_path, 10)
    assert "1000 images are needed and there are 10" in said(workload)
    file = tmp_path / "cifar10" / "test_batch.bin"
    monkeypatch.setenv("GEVOLVE_DATA", f"{tmp_path}/.")  # what was read is remembered by folder
    datasets._cifar10.cache_clear()
    file.write_bytes(b"12345")
    assert "not in CIFAR-10's binary layout" in said(workload)
    file.rename(file.with_name("test_batch.bin.xz"))
    assert "test_batch.bin.xz cannot be read: LZMAError" in said(workload)


def test_2fcnet_says_what_is_wrong_with_mnist(tmp_path, monkeypatch):
    workload = locate("2fcnet")
    monkeypatch.setenv("GEVOLVE_DATA", str(tmp_path))
    assert workload.data("search").images.shape == (280, 32, 64)  # no MNIST there: digits
    (tmp_path / "mnist").mkdir()
    assert "no mnist/train-images-idx3-ubyte" in said(workload)
    (tmp_path / "mnist" / "train-images-idx3-ubyte.gz").write_bytes(b"\x1f\x8b nonsense")
    assert "train-images-idx3-ubyte.gz cannot be read" in said(workload)
    (tmp_path / "mnist" / "train-images-idx3-ubyte").write_bytes(bytes(100))
    assert "is not MNIST's" in said(workload)


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_data_and_errors_need_no_jax():
    done = python(
        "import sys\n"
        "import numpy as np\n"
        "from gevolve.workload.locate import locate, location_of\n"
        "import gevolve.suite\n"
        "small, fc = (locate(n) for n in ('mobilenet-small', '2fcnet'))\n"
        "case = small.data('search')\n"
        "small.error(np.zeros((*small.groups, 10)), case)\n"
        "start = fc._part(fc.data('search'), 0)\n"
        "fc.error(start.weights, start)\n"
        "small.arguments(case)\n"
        "assert 'jax' not in sys.modules\n"
    )
    assert done.returncode == 0, done.stderr


def test_without_jax_one_line_names_the_extra():
    done = python(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('jax', 'jaxlib'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from gevolve.workload.locate import locate, location_of\n"
        "from gevolve.errors import MissingPackageError\n"
        f"for name in {list(MODELS)}:\n"
        "    try:\n"
        "        locate(name).load()\n"
        "    except MissingPackageError as error:\n"
        "        print(error)\n"
    )
    said = "models need JAX; in a checkout of gevolve: pip install './[ml]'"
    assert done.stdout.splitlines() == [said] * len(MODELS), done
