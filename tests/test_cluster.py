"""The door to a cluster: only this machine or an encrypted address, and a refusal that says why."""

from __future__ import annotations

import pytest

from geocorgi.errors import InvalidInput, Unreachable

pytest.importorskip("distributed", reason="distributed is missing: pip install 'geocorgi[cluster]'")
from geocorgi import cluster
from geocorgi.cluster import cluster_executor, require_safe

# The library's own threads and sockets are not this project's to close.
pytestmark = pytest.mark.filterwarnings("default")


def test_nobody_at_the_address_is_a_refusal(monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_ANSWER", 1)
    with pytest.raises(Unreachable, match="no scheduler"), cluster_executor("tcp://127.0.0.1:1"):
        pass


def test_an_encrypted_address_without_certificates_says_where_they_are_named():
    with pytest.raises(InvalidInput, match="ca-file"), cluster_executor("tls://127.0.0.1:1"):
        pass


@pytest.mark.parametrize(
    "address",
    [
        "tcp://10.0.0.1:8786", "10.0.0.1:8786", "ucx://127.0.0.1:1", "", "tls://", "127.0.0.1",
        "tls://10.0.0.1", "tls://10.0.0.1:port", "ws://127.0.0.1:1",
    ],
)  # fmt: skip
def test_other_addresses_are_encrypted_or_refused(address):
    with pytest.raises(InvalidInput, match="tls://"):
        require_safe(address)


@pytest.mark.parametrize(
    "address", ["tls://10.0.0.1:8786", "tcp://127.0.0.1:1", "127.0.0.1:1", "tcp://[::1]:1"]
)
def test_this_machine_and_encrypted_ones_are_asked(address):
    assert require_safe(address) == address
