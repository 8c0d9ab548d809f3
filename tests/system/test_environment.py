import os

from gevolve.evaluate.pool import Pool
from gevolve.system.environment import named
from gevolve.testing.evaluators import patch, toy

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "s",
    "GITHUB_TOKEN": "s",
    "HF_TOKEN": "s",
    "DATABASE_URL": "s",
    "TF_VAR_password": "s",
    "JAX_API_KEY": "s",
    "GEVOLVE_AUTH": "s",
    "SSH_AUTH_SOCK": "s",
    "MY_PATH": "s",
}


def test_workers_get_what_they_compute_with_and_no_secret():
    kept = {
        "PATH": "p",
        "HOME": "h",
        "LC_ALL": "C",
        "PYTHONPATH": "x",
        "CUDA_VISIBLE_DEVICES": "0",
        "XLA_FLAGS": "f",
        "JAX_PLATFORMS": "cpu",
        "GEVOLVE_DATA": "d",
        "OMP_NUM_THREADS": "2",
        "LD_LIBRARY_PATH": "l",
    }
    assert named(kept | SECRETS) == kept


def test_one_that_is_asked_for_is_kept():
    given = {"MY_DATA": "d", "OTHER": "o", "GITHUB_TOKEN": "t", "GEVOLVE_KEEP": "MY_DATA, OTHER"}
    assert set(named(given)) == {"MY_DATA", "OTHER", "GEVOLVE_KEEP"}


def test_a_worker_does_not_see_the_rest(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    with Pool(toy(), device="toy") as evaluator:
        evaluator.submit(0, patch("reveals", 0))
        [(_, evaluation)] = evaluator.results()
    assert "GITHUB_TOKEN" in os.environ
    assert evaluation.detail.startswith("ValueError: ")
    assert "PATH" in evaluation.detail
    assert "GITHUB_TOKEN" not in evaluation.detail
