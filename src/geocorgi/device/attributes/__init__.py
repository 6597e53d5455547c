"""Attributes of cells: what preferences are about, for the whole map, from wherever it is known."""
