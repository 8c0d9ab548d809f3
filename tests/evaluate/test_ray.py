"""The evaluator of many machines on one: a cluster of its own, shared by the tests of this file."""

import pytest

from gevolve.evaluate.dispatcher.cluster import Cluster
from gevolve.evaluate.ray import RayEvaluator
from gevolve.testing.evaluators import EvaluatorConformance

pytestmark = pytest.mark.slow  # Ray takes seconds to start


@pytest.fixture(scope="module")
def cluster():
    with Cluster("ray", workers=2) as cluster:
        yield cluster


class TestRay(EvaluatorConformance):
    @pytest.fixture(autouse=True)
    def _on(self, cluster):
        self.cluster = cluster

    def make(self, spec, *, workers=2, **options):
        return RayEvaluator(spec, cluster=self.cluster, workers=workers, **options)
