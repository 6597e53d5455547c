"""All that is known of the map's cells, for a policy: own places, tables, addresses.

Asked for once a report, always for the whole map, before anything looks at where the user is. Only
what some preference is about is read or asked for. What cannot be had is unknown, with the reason;
the preference decides then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from geocorgi.device.attributes.asking import Asker, asked
from geocorgi.device.attributes.gridding import values_over
from geocorgi.device.attributes.own_places import own_attributes, read_own_places
from geocorgi.device.attributes.table import read_table
from geocorgi.device.attributes.values import Attributes, AttributeValues
from geocorgi.device.network.address import ServerAddress
from geocorgi.device.network.exchange import Get, not_asked
from geocorgi.device.network.proxy import proxy_for
from geocorgi.device.policy import Policy
from geocorgi.device.sources import Source
from geocorgi.errors import BadFile
from geocorgi.wire.public_map import PublicMap

KEPT = "attributes"


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Where things are: the policy's own folder, the device's data, and how addresses are asked.

    Called with a policy and a map, it returns what is known.
    """

    folder: Path
    data: Path
    asker: Asker

    def __call__(self, policy: Policy, public_map: PublicMap) -> Attributes:
        """Return the attributes that the policy's preferences are about."""
        wanted = {preference.variable for preference in policy.preferences}
        found: dict[str, AttributeValues] = {}
        if (own := read_own_places(self.data)) is not None:
            known = own_attributes(own, public_map.leaves)
            found.update({name: known[name] for name in wanted.intersection(known)})
        for name, source in policy.sources.items():
            if name in wanted:
                found[name] = self._of(name, source, public_map)
        return found

    def _of(self, name: str, source: Source, public_map: PublicMap) -> AttributeValues:
        if source.table is None:
            return asked(name, source, public_map, self.asker)
        try:
            rows = read_table(self.folder / source.table, source.column or name)
        except BadFile as failure:
            return AttributeValues(source.kind, {}, str(failure))
        return values_over(rows, source, public_map.leaves)


def gatherer(
    folder: Path, data: Path, proxy: str | None = None, *, offline: bool = False
) -> Gatherer:
    """Return the usual gatherer: over the network, through the proxy named or set, or offline."""

    @contextmanager
    def connect(source: Source) -> Iterator[Get]:
        if offline:
            yield not_asked
            return
        from geocorgi.device.network.door import (  # noqa: PLC0415 - costs a third of a second
            Limits,
            network,
        )

        parts = urlsplit(str(source.url))
        address = ServerAddress(f"{parts.scheme}://{parts.netloc}/")
        seconds = source.time_out / timedelta(seconds=1)
        with network(proxy_for(address, proxy), Limits(seconds, seconds, seconds)) as get:
            yield get

    return Gatherer(folder, data, Asker(connect, data / KEPT))
