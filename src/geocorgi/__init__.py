"""Hand out a location without giving yourself away, and prove it.

The map of the house, in the direction in which things depend on each other:

``geocorgi.errors``
    every way in which something can go wrong, grouped by whose fault it is.
``geocorgi.tree``
    WHERE: public geography. H3 cells, location trees, distances, regions, priors.
``geocorgi.checkins``
    WHEN: public check-ins, read with an account of every bad row.
``geocorgi.matrix``
    WHAT: the obfuscation matrix, what it costs, its seal, and the auditor of what it promises.
``geocorgi.wire``
    THE WALL: everything that crosses between a server and a device, byte for byte.
``geocorgi.pictures``
    SEEN: pictures of a tree, a prior, a matrix's row, for people who would rather look.
``geocorgi.generate``
    HOW: the expensive part, from a problem to a provably optimal matrix.
``geocorgi.server``
    UNTRUSTED: the operator's side and its command, ``geocorgi-server``.
``geocorgi.device``
    TRUSTED: the user's side. The real location lives here and nowhere else.
``geocorgi.cli``
    the user's command, ``geocorgi``.
``geocorgi.lab``
    the laboratory and its command, ``geocorgi-lab``: the one room that sees both sides. Nothing
    imports it; it is shipped as an extra.
``geocorgi.demo``
    what ``make demo`` shows: an operator, a user and a third party, by their commands alone.
``geocorgi.synthetic``
    a made-up city, for demonstrations and tests.
``geocorgi.terminal``, ``geocorgi.files``, ``geocorgi.cluster``, ``geocorgi.seeded``
    doors: how commands speak, how files are written, how many machines are asked, where made-up
    data gets its chance.

This module imports nothing, so that importing one room never opens the door to another.
"""

__version__ = "0.1.0"
