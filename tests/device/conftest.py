import pytest


@pytest.fixture(autouse=True)
def _doubles_end():
    """Give back the memory of every double of the CUDA driver that a test made."""
    yield
    from tests.device.cuda.double import Double

    while Double.made:
        Double.made.pop().end()
