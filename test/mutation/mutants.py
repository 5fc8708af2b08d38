"""Mutants of C++ sources: small changes, each of which some test should notice.

A mutant replaces one token, or leaves out one statement. Comments, texts, preprocessor lines and
template arguments are left alone, because a change there does not compile or means nothing.
"""

import dataclasses
import re

SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
    r"|\b(?:static_assert|COLL_RETURN_IF_ERROR|namespace|using)\b[^\n]*"
    r"|template\s*<[^\n]*|\boperator\s*\S+|<[\w:*& ,]+>(?=[\s(>{&*,])|->", re.M | re.S)

TEXT = re.compile(r'["\']|to_string|str\(')

# What is looked for, its name, and what it becomes.
RULES = (
    (r"(?<=[\w)\] ])<=(?=[ \w(])", "relation", ("<",)),
    (r"(?<=[\w)\] ])>=(?=[ \w(])", "relation", (">",)),
    (r"(?<=[\w)\]] )<(?= )", "relation", ("<=",)),
    (r"(?<=[\w)\]] )>(?= )", "relation", (">=",)),
    (r"(?<= )==(?= )", "equality", ("!=",)),
    (r"(?<= )!=(?= )", "equality", ("==",)),
    (r"(?<= )&&(?= )", "logic", ("||",)),
    (r"(?<= )\|\|(?= )", "logic", ("&&",)),
    (r"(?<=[\w)\]] )\+(?= )", "arithmetic", ("-",)),
    (r"(?<=[\w)\]] )-(?= )", "arithmetic", ("+",)),
    (r"(?<=[\w)\]] )\*(?= [\w(])", "arithmetic", ("/",)),
    (r"(?<= )\+=(?= )", "arithmetic", ("-=",)),
    (r"(?<= )-=(?= )", "arithmetic", ("+=",)),
    (r"(?<![\w.'])0(?![\w.'x])", "constant", ("1",)),
    (r"(?<![\w.'])1(?![\w.'])(?! <<)", "constant", ("0", "2")),
    (r"\btrue\b", "constant", ("false",)),
    (r"\bfalse\b", "constant", ("true",)),
    (r"\bstd::min\b", "bound", ("std::max",)),
    (r"\bstd::max\b", "bound", ("std::min",)),
    (r"(?<=\bif )\((?=[^;\n]*\)$)", "condition", ("(!",)),
    (r"^[ \t]+[\w.>\[\]()-]+\([^;\n]*\);$", "statement", (";",)),
    (r"^[ \t]+[\w.>\[\]-]+ [+-]?= [^;\n]*;$", "statement", (";",)),
    (r"\bcontinue;", "statement", (";",)),
)


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    begin: int
    end: int
    line: int
    column: int
    kind: str
    before: str
    after: str

    def __str__(self):
        return (f"{self.path}:{self.line}:{self.column}: {self.kind}: "
                f"'{self.before.strip()}' becomes '{self.after.strip()}'")


def blank(text):
    """The text with everything that is not to be changed replaced by blanks."""
    return SKIPPED.sub(lambda match: re.sub(r"[^\n]", "\0", match.group()), text)


def condition_end(text, begin):
    """Where the parenthesis that opens at `begin` closes, or None."""
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return None


def mutants_of(path, text):
    """All mutants of a source file, in the order of the text."""
    visible = blank(text)
    found = []
    for pattern, kind, replacements in RULES:
        for match in re.finditer(pattern, visible, re.M):
            begin, end = match.span()
            if match.group() == "+" and TEXT.search(text[max(0, begin - 3):end + 20]):
                continue  # texts have no difference
            for after in replacements:
                if kind == "condition":
                    close = condition_end(visible, begin)
                    if close is None or ";" in text[begin:close]:
                        continue
                    end = close + 1
                    after = "(!" + text[begin:end] + ")"
                line = text.count("\n", 0, begin) + 1
                column = begin - text.rfind("\n", 0, begin)
                found.append(Mutant(path, begin, end, line, column, kind, text[begin:end], after))
    return sorted(found, key=lambda m: (m.begin, m.kind, m.after))
