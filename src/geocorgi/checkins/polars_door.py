"""The only door to Polars, so that its absence is said in one place and in one sentence.

Polars belongs to the extra ``geocorgi[data]``. Whoever reads check-ins, tables or a history, or
writes a release, comes through here; what a report needs (priors, trees, distances) must not.
"""

from __future__ import annotations

from geocorgi.errors import MissingExtra

try:
    import polars as pl
except ModuleNotFoundError:
    raise MissingExtra(
        "check-ins and tables need Polars, which is not installed: pip install 'geocorgi[data]'"
    ) from None

__all__ = ["pl"]
