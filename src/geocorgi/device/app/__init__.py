"""The user's own page, on her own machine and for her own browser alone."""
