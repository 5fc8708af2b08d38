#!/usr/bin/env python3
"""Writes docs/environment.md from the table in runtime/base/env.cc.

Comments `// ## Title` in the table are the page's headings. check_env fails while the
page is not what this script would write.
"""

import argparse
import pathlib
import re

SOURCE, PAGE = "runtime/base/env.cc", "docs/environment.md"

HEAD = """# Environment variables

The runtime and the tools read these variables. `coll-info` prints them with their present values. An empty variable
counts as unset. A number out of range causes one warning, and the default is used.

`tools/lint/environment_page.py` writes this page from the table in `runtime/base/env.cc`. To change the page, change
the table and run the script.
"""

STRING = r'"(?:[^"\\]|\\.)*"'
ENTRY = re.compile(rf'// ## (?P<title>[^\n]+)|\{{EnvVar::\w+, "(?P<name>\w+)", "(?P<default>[^"]*)",'
                   rf'\s*(?P<help>{STRING}(?:\s*{STRING})*)')


def page(source):
    """The page for the text of env.cc."""
    lines = []
    for entry in ENTRY.finditer(source):
        if entry["title"]:
            lines += ["", f"## {entry['title']}", "", "| variable | default | meaning |", "|---|---|---|"]
            continue
        meaning = "".join(text[1:-1] for text in re.findall(STRING, entry["help"]))
        default = f"`{entry['default']}`" if entry["default"] else "–"
        lines.append(f"| `{entry['name']}` | {default} | {meaning.replace('|', chr(92) + '|')} |")
    return HEAD + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent.parent)
    root = parser.parse_args().root
    target = root / PAGE
    target.parent.mkdir(exist_ok=True)
    target.write_text(page((root / SOURCE).read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
