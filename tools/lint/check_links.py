#!/usr/bin/env python3
"""Relative links and anchors in *.md lead somewhere."""

import os
import re

from common import Finding, files, line_of, read, run

LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.M)


def without_code(text):
    """Code blanked out, line numbers unchanged."""
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", lambda m: "\n" * m.group().count("\n"), text,
                  flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda m: "x" * len(m.group()), text)


def anchors(text):
    """The ids that a Markdown renderer gives headings: lower case, punctuation dropped."""
    seen = {}
    fenced = re.sub(r"^(```|~~~).*?^\1[^\n]*$", "", text, flags=re.M | re.S)
    for match in HEADING.finditer(fenced):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        yield slug if count == 0 else f"{slug}-{count}"
    yield from re.findall(r"<a\s+(?:id|name)=\"([^\"]+)\"", text)


def check(args):
    for name in files(args.root, ".md"):
        text = without_code(read(args.root, name))
        for match in LINK.finditer(text):
            target = match.group(1)
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            where = line_of(text, match.start())
            if not os.path.exists(os.path.join(args.root, full)):
                yield Finding(name, where, f"dead link: {target}")
            elif anchor and full.endswith(".md"):
                if anchor not in set(anchors(read(args.root, full))):
                    yield Finding(name, where, f"dead anchor: {target}")


if __name__ == "__main__":
    run(check, __doc__)
