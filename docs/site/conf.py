"""How the pages that make_site.py has laid out become a site; read by Sphinx."""

project = "coll"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "coll"
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4
# The pages are read on their own as well: their titles need not be at one level.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
