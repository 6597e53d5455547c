"""The location tree (Paper: Def. 3.1, fig:treegeneration; §3.1, §6.1).

A tree is its root cell and its height: everything else follows from H3. Level ``height`` is the
root and level 0 the leaves, as in the paper. Every list of cells comes in ascending order of the
H3 index. For the leaves that is H3's own child order, it is the order in which a depth-first
walk meets them, and the leaves of a subtree are therefore one contiguous run of the leaves of
the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from geocorgi.errors import InvalidTree, OutsideTree
from geocorgi.tree import cells

MOST_LEAVES = 117_649  # 7^6: beyond that no matrix fits and listing the leaves is an accident


@dataclass(frozen=True, slots=True)
class LocationTree:
    """The balanced tree of all H3 cells from ``root`` down to ``height`` levels below it."""

    root: str
    height: int

    def __post_init__(self) -> None:
        """Refuse what does not grow into a balanced tree."""
        object.__setattr__(self, "root", cells.require_cell(self.root))
        if isinstance(self.height, bool) or not isinstance(self.height, int) or self.height < 0:
            raise InvalidTree(f"a height is a whole number from 0 on, not {self.height!r}")
        room = cells.FINEST_RESOLUTION - self.root_resolution
        if self.height > room:
            raise InvalidTree(
                f"height {self.height} is too much: below resolution {self.root_resolution} H3 "
                f"has {room} finer ones; choose a height up to {room} or a coarser root"
            )

    @property
    def root_resolution(self) -> int:
        """The H3 resolution of the root."""
        return cells.resolution_of(self.root)

    @property
    def leaf_resolution(self) -> int:
        """The H3 resolution of the leaves."""
        return self.root_resolution + self.height

    def resolution(self, level: int) -> int:
        """Return the H3 resolution of the cells at ``level``."""
        return self.leaf_resolution - self._require_level(level)

    def level_of(self, cell: str) -> int:
        """Return the level at which ``cell`` stands in this tree."""
        if not self.contains_cell(cell):
            raise OutsideTree(f"the cell is not one of the tree below {self.root}")
        return self.leaf_resolution - cells.resolution_of(cell)

    def count(self, level: int) -> int:
        """Return how many cells stand at ``level``, without listing them."""
        return cells.descendant_count(self.root, self.resolution(level))

    def nodes(self, level: int) -> tuple[str, ...]:
        """Return the cells at ``level`` (Paper: getNodes of Alg. 2 and 3)."""
        if self.count(level) > MOST_LEAVES:
            raise InvalidTree(
                f"level {level} has {self.count(level):,} cells, more than {MOST_LEAVES:,}; "
                "work in a subtree or choose a coarser leaf resolution"
            )
        return cells.descendants(self.root, self.resolution(level))

    @property
    def leaves(self) -> tuple[str, ...]:
        """The cells at level 0."""
        return self.nodes(0)

    def children(self, cell: str) -> tuple[str, ...]:
        """Return the cells one level below ``cell``; a leaf has none."""
        level = self.level_of(cell)
        return cells.descendants(cell, self.resolution(level - 1)) if level else ()

    def ancestor(self, cell: str, level: int) -> str:
        """Return the cell of ``level`` that ``cell`` descends from (itself, at its own level)."""
        resolution, own = self.resolution(level), self.level_of(cell)
        if level < own:
            raise OutsideTree(f"a cell at level {own} has no ancestor at level {level}, below it")
        return cells.ancestor(cell, resolution)

    def subtree(self, cell: str) -> LocationTree:
        """Return the tree below ``cell``, down to the same leaves (Paper: findSubTree)."""
        return LocationTree(cell, self.level_of(cell))

    def subtrees(self, level: int) -> tuple[LocationTree, ...]:
        """Return the subtrees rooted at ``level``: the paper's privacy forest of that level."""
        return tuple(LocationTree(cell, level) for cell in self.nodes(level))

    def contains_cell(self, cell: str) -> bool:
        """Return whether ``cell`` is a node of this tree, at whatever level."""
        resolution = cells.resolution_of(cell)
        if not self.root_resolution <= resolution <= self.leaf_resolution:
            return False
        return cells.ancestor(cell, self.root_resolution) == self.root

    def leaf_at(self, latitude: float, longitude: float) -> str:
        """Return the leaf that contains the point.

        The leaf decides, not the root: H3's children overhang their parents, so a point inside
        the root's outline can lie in a leaf of the neighbouring tree, and the other way round.
        """
        leaf = cells.cell_at(latitude, longitude, self.leaf_resolution)
        if cells.ancestor(leaf, self.root_resolution) != self.root:
            raise OutsideTree(f"the point lies in no leaf of the tree below {self.root}")
        return leaf

    def contains_point(self, latitude: float, longitude: float) -> bool:
        """Return whether some leaf contains the point."""
        leaf = cells.cell_at(latitude, longitude, self.leaf_resolution)
        return cells.ancestor(leaf, self.root_resolution) == self.root

    def breadth_first(self) -> Iterator[str]:
        """Walk all cells level by level from the root down (Paper: §5.1, Alg. 3, step 2)."""
        for level in range(self.height, -1, -1):
            yield from self.nodes(level)

    def depth_first(self) -> Iterator[str]:
        """Walk all cells, each before its descendants (Paper: §5.1, Alg. 3, steps 5-6)."""
        waiting = [self.root]
        while waiting:
            cell = waiting.pop()
            yield cell
            waiting.extend(reversed(self.children(cell)))

    def _require_level(self, level: int) -> int:
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= self.height:
            raise InvalidTree(f"this tree has levels 0 to {self.height}, not {level!r}")
        return level


def tree_around(
    latitude: float, longitude: float, root_resolution: int, leaf_resolution: int
) -> LocationTree:
    """Return the tree of the given resolutions that has a leaf at the point.

    The root is the ancestor of the leaf at the point, so the tree always contains the point.
    """
    cells.require_resolution(root_resolution)
    height = cells.require_resolution(leaf_resolution) - root_resolution
    if height < 0:
        raise InvalidTree(
            f"leaves of resolution {leaf_resolution} are coarser than a root of resolution "
            f"{root_resolution}; the leaf resolution is the larger number"
        )
    leaf = cells.cell_at(latitude, longitude, leaf_resolution)
    return LocationTree(cells.ancestor(leaf, root_resolution), height)
