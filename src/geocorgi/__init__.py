"""Hand out a location without giving yourself away, and prove it.

The map of the house, in the direction in which things depend on each other:

``geocorgi.errors``
    every way in which something can go wrong, grouped by whose fault it is.
``geocorgi.tree``
    WHERE: public geography. H3 cells, location trees, distances, check-ins, priors.
``geocorgi.matrix``
    WHAT: the obfuscation matrix, what it costs, and the auditor that says what it promises.
``geocorgi.cli``
    the ``geocorgi`` command.

This module imports nothing, so that importing one room never opens the door to another.
"""

__version__ = "0.1.0"
