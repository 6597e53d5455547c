"""The only door to Polars, so that its absence is said in one place and in one sentence.

Polars belongs to the extra ``geocorgi[data]``: a user's device reads no check-ins. Only modules
that read check-ins come through here; priors, trees and distances must not.
"""

from __future__ import annotations

from geocorgi.errors import MissingExtra

try:
    import polars as pl
except ModuleNotFoundError:
    raise MissingExtra(
        "reading check-ins needs Polars, which is not installed: pip install 'geocorgi[data]'"
    ) from None

__all__ = ["pl"]
