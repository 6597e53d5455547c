"""The same forest from a real Dask scheduler with two worker processes, started here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from geocorgi.generate.privacy_forest import SubtreeDone, privacy_forest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import request_for
from geocorgi.wire.map_codec import map_id
from tests.clusters import Cluster, cluster_in
from tests.wire.maps import small_map

pytest.importorskip("distributed", reason="distributed is missing: pip install 'geocorgi[cluster]'")
from geocorgi.cluster import cluster_executor

MAP = small_map(filters={})
REQUEST = request_for(map_id(MAP), CatalogueEntry(1, None, 0, Rows.DROP, 5.0))
# The library's own threads and sockets are not this project's to close.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    with cluster_in(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def test_a_cluster_makes_the_same_bytes_and_survives_the_loss_of_a_worker(cluster):
    alone = forest_bytes(privacy_forest(MAP, REQUEST))
    with cluster_executor(cluster.address) as executor:
        assert forest_bytes(privacy_forest(MAP, REQUEST, executor=executor)) == alone

    told: list[SubtreeDone] = []

    def kill_one(state: SubtreeDone) -> None:
        told.append(state)
        if state.done == 1:
            cluster.workers[0].kill()

    with cluster_executor(cluster.address) as executor:
        again = privacy_forest(MAP, REQUEST, executor=executor, on_progress=kill_one)
    assert forest_bytes(again) == alone
    assert len(told) == 7
