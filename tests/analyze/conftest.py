import pytest


@pytest.fixture(scope="module", autouse=True)
def _evaluators_are_closed():
    yield
    from tests.analyze import runs

    runs.close()
