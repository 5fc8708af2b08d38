#!/usr/bin/env python3
"""Builds the site: the guide, the pages of every folder, the reference of operations and passes.

    make_site.py REFERENCE OUTPUT

REFERENCE holds the Markdown that `ninja coll-doc` makes. The pages are laid out in OUTPUT/pages in
the tree of the repository, so that the links between them hold, and Sphinx turns them into
OUTPUT/html. A link that leads nowhere, or a page that no table of contents names, is an error.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")

# Title of a part of the contents, and its pages: those of the named folders, deepest last.
PARTS = (
    ("Guide", ("docs/guide",)),
    ("Using coll", ("docs", "tools", "examples", "embed")),
    ("Reference", ("reference",)),
    ("The compiler", ("dialect", "passes", "compiler", "plan", "driver")),
    ("The runtime", ("runtime",)),
    ("Tests and figures", ("test",)),
)


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    return [pathlib.PurePosixPath(name) for name in out.split("\0") if name]


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def lay_out(reference, pages):
    """Copies every Markdown page, and each file that one of them links to."""
    names = tracked("*.md")
    for name in names:
        copy(ROOT / name, pages / name)
        for match in LINK.finditer((ROOT / name).read_text(encoding="utf-8")):
            linked = (ROOT / name.parent / match[1]).resolve()
            if "://" not in match[1] and linked.is_file() and linked.is_relative_to(ROOT):
                copy(linked, pages / linked.relative_to(ROOT))
    for page in sorted(reference.glob("*.md")):
        # Sphinx makes its own table of contents where the generator writes [TOC].
        text = page.read_text(encoding="utf-8").replace("[TOC]\n", "")
        if not re.search(r"^# ", text, re.M):
            text = f"# {page.stem.capitalize()}\n\n" + text
        (pages / "reference").mkdir(exist_ok=True)
        (pages / "reference" / page.name).write_text(text, encoding="utf-8")
        names.append(pathlib.PurePosixPath("reference", page.name))
    return names


def part_of(name):
    """The part whose folder is the longest that holds the page, or None."""
    fits = [(len(folder), title) for title, folders in PARTS for folder in folders
            if name.is_relative_to(folder)]
    return max(fits)[1] if fits else None


def write_contents(names, pages):
    """index.md: the README and, below it, the parts."""
    def order(name):  # a folder's README comes before what the folder holds
        return [*name.parent.parts, "" if name.stem == "README" else name.name]

    lines = []
    for title, _ in PARTS:
        lines += ["```{toctree}", ":hidden:", f":caption: {title}", ""]
        lines += [str(name.with_suffix("")) for name in sorted(names, key=order)
                  if part_of(name) == title]
        lines += ["```", ""]
    lines += ["```{toctree}", ":hidden:", ":caption: More", "", "CHANGELOG", "```", ""]
    readme = pages / "README.md"
    (pages / "index.md").write_text(
        readme.read_text(encoding="utf-8") + "\n" + "\n".join(lines), encoding="utf-8")
    readme.unlink()


def link_folders(pages):
    """A link to a folder leads to its README; one to the README of the root, to the index."""
    for page in pages.rglob("*.md"):
        def target(match, page=page):
            path, anchor = match[1], match[2] or ""
            if "://" in path:
                return match[0]
            linked = (page.parent / path).resolve()
            if linked == pages / "README.md":
                path = path[: -len("README.md")] + "index.md"
            elif linked.is_dir() and (linked / "README.md").is_file():
                path = path.rstrip("/") + "/README.md"
            return f"]({path}{anchor})"
        page.write_text(LINK.sub(target, page.read_text(encoding="utf-8")), encoding="utf-8")


def main():
    reference, output = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    pages = output / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    names = lay_out(reference, pages)
    write_contents(names, pages)
    link_folders(pages)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto",
               "-c", str(ROOT / "docs" / "site"), str(pages), str(output / "html")]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
