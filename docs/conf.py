"""How the documents are built: offline, without a warning, loading nothing from anywhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import geocorgi

sys.path.insert(0, str(Path(__file__).parent))
import commands_page
import paper_map

project = "geocorgi"
author = "the geocorgi project"
release = geocorgi.__version__
extensions = ["myst_parser", "sphinx.ext.apidoc", "sphinx.ext.autodoc"]

html_theme = "furo"
html_title = "geocorgi"
html_copy_source = False
html_show_sphinx = False
html_static_path: list[str] = []

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

apidoc_modules = [
    {
        "path": "../src/geocorgi",
        "destination": "reference/api",
        "separate_modules": True,
        "module_first": True,
        "implicit_namespaces": False,
    }
]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
# A field that is called like a type is two targets for one word; which one is no reader's worry.
suppress_warnings = ["ref.python"]


def setup(app: Any) -> None:
    """Write the pages that say what the code says, before the site is built of them."""
    app.connect("builder-inited", commands_page.write)
    app.connect("builder-inited", paper_map.write)
