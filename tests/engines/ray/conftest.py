"""A Ray cluster of two nodes on this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_fixtures import Servers

ray = pytest.importorskip("ray", reason="scripts/lib/test_ray.sh has it")


@pytest.fixture(scope="session")
def plans() -> Servers:
    """No engine's server is needed here."""
    return {}


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Its address."""
    from ray.cluster_utils import Cluster

    nodes = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    ray.init(address=nodes.address, logging_level="WARNING", log_to_driver=False)
    yield nodes.address
    ray.shutdown()
    nodes.shutdown()
