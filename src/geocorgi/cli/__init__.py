"""The ``geocorgi`` command: each module is one of its words."""
