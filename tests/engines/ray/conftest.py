"""A Ray cluster of two nodes on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from engine_fixtures import Servers

from tests import s3

ray = pytest.importorskip("ray", reason="scripts/lib/test_ray.sh has it")


T = TypeVar("T")


@pytest.fixture(scope="session")
def plans() -> Servers:
    """No engine's server is needed here."""
    return {}


@pytest.fixture(scope="session")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[s3.Bucket]:
    with s3.running(tmp_path_factory.mktemp("s3") / "log") as started:
        yield started


def patiently(start: Callable[[], T]) -> T:
    """Ray gives a node thirty seconds, which a busy machine may not have: then it is asked again."""
    for _ in range(9):
        try:
            return start()
        except Exception as error:
            if "timed out" not in str(error):
                raise
    return start()


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Its address."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False}
    nodes = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    patiently(lambda: nodes.add_node(num_cpus=1))
    nodes.wait_for_nodes(timeout=600)
    ray.init(address=nodes.address, logging_level="WARNING", log_to_driver=False)
    yield nodes.address
    ray.shutdown()
    nodes.shutdown()
