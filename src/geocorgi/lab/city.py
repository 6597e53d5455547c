"""The cities: a tree of 343 leaves and its check-ins, in two parts (Paper: §6.1).

The made-up San Francisco comes with the package. The real Gowalla check-ins (E. Cho, S. A. Myers,
J. Leskovec, KDD 2011) are read from a folder by path and never become part of anything but sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from geocorgi.checkins.counts import leaf_counts
from geocorgi.checkins.readers import Checkins, read_snap
from geocorgi.checkins.split import split
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.lab.experiment import Setting
from geocorgi.synthetic.files import bundled_check_ins
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors, priors_from_counts, restricted

SYNTHETIC = "synthetic"
FILES = {"san-francisco": "gowalla_sf.txt.gz", "new-york": "gowalla_nyc.txt.gz"}
ROOTS = {
    SYNTHETIC: "86283082fffffff",
    "san-francisco": "86283082fffffff",  # the paper's own tree
    "new-york": "862a100d7ffffff",  # around Times Square
}
HEIGHT = 3


@dataclass(frozen=True, slots=True, eq=False)
class City:
    """A location tree, and where people were: nine tenths for priors, one tenth to judge by."""

    name: str
    tree: LocationTree
    priors: Priors
    held_out: Priors

    @property
    def first_subtree(self) -> LocationTree:
        """The first subtree of 49 leaves: the paper's own K = 49."""
        return self.tree.subtrees(2)[0]

    @property
    def busiest_subtree(self) -> LocationTree:
        """The subtree of 49 leaves with the most check-ins."""
        return max(
            self.tree.subtrees(2), key=lambda tree: restricted(self.priors, tree.leaves).total
        )


@lru_cache
def city_of(name: str, setting: Setting) -> City:
    """Return a city, read and counted once a process."""
    tree = LocationTree(_root(name), HEIGHT)
    with check_ins(name, setting) as source:
        parts = split(source, seed=setting.seed)
        train, test = (leaf_counts(part, tree.leaves) for part in parts)
    return City(
        name,
        tree,
        priors_from_counts(tree.leaves, train.counts),
        priors_from_counts(tree.leaves, test.counts),
    )


@contextmanager
def check_ins(name: str, setting: Setting) -> Iterator[Checkins]:
    """Lend a city's check-ins."""
    _root(name)
    if name == SYNTHETIC:
        with bundled_check_ins() as path:
            yield read_snap(path)
        return
    if setting.data is None:
        raise InvalidInput(f"the check-ins of {name} are read by path: give --data FOLDER")
    yield read_snap(_file(setting.data, FILES[name]))


def _root(name: str) -> str:
    if name not in ROOTS:
        raise InvalidInput(f"there is no city {name!r}; there are {', '.join(ROOTS)}")
    return ROOTS[name]


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise BadFile(f"the folder of --data has no {name}; leave --data out for a made-up city")
    return path
