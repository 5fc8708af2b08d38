"""Sources that hold many mutants at once, each switched on at run time.

An expression becomes `(collMutant(N) ? (mutated) : (original))`, a statement is skipped while mutant N is on. So one
build serves a whole campaign. The mutated copy of an expression stands on one line, before the original: every other
line keeps its number, and a message of the compiler leads to the mutant that does not compile.
"""

import re

COMMENT_OR_TEXT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M | re.S)
ASSIGNMENT = re.compile(r"(?<![=!<>+\-*/%&|^])=(?!=)|(?<=[+\-*/%&|^])=(?!=)")

# Tests write the number of the mutant that is on into the control file, and read from it which were reached.
HEADER = """\
#ifndef COLL_MUTANTS_H
#define COLL_MUTANTS_H
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct CollMutants {
  std::atomic<int> on;
  std::atomic<unsigned char> reached[@COUNT@];
};
inline CollMutants *collMutants() {
  static CollMutants *const mutants = [] {
    const char *own = ::getenv("COLL_MUTANTS_CONTROL"); // of one of several workers
    const int file = ::open(own ? own : "@CONTROL@", O_RDWR | O_CLOEXEC);
    void *const at = ::mmap(nullptr, sizeof(CollMutants), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return static_cast<CollMutants *>(at);
  }();
  return mutants;
}
inline bool collMutant(int number) {
  CollMutants *mutants = collMutants();
  if (!mutants->reached[number].load(std::memory_order_relaxed))
    mutants->reached[number].store(1, std::memory_order_relaxed);
  return mutants->on.load(std::memory_order_relaxed) == number;
}
#endif
"""


def header(control, count):
    return HEADER.replace("@CONTROL@", str(control)).replace("@COUNT@", str(count))


def scannable(text):
    """The text with comments as blanks, and without brackets in texts: every position keeps its place."""
    def hide(match):
        found = match.group()
        return re.sub(r"[^\n]", "S" if found[0] in "\"'" else " ", found)
    return COMMENT_OR_TEXT.sub(hide, text)


def is_boundary(text, at, is_logic):
    """Whether the character ends the expression beside it, outside of brackets."""
    char = text[at]
    if char in ",;?":
        return True
    if char == ":":
        return text[at - 1] != ":" and text[at + 1] != ":"
    if char == "=":
        return ASSIGNMENT.match(text, at) is not None
    if char == "}":
        return text[at + 1] in "\n "
    if char in "&|" and not is_logic:
        return text[at - 1] == char or text[at + 1] == char
    return char == "n" and re.search(r"\breturn$", text[max(0, at - 8):at + 1]) and not text[at + 1].isalnum()


def clause(text, begin, end, is_logic):
    """The bounds of the expression around an operator."""
    left, depth = begin - 1, 0
    while left >= 0:
        if depth == 0 and (text[left] in "([{" or is_boundary(text, left, is_logic)):
            break
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(text[left], 0)
        left -= 1
    right, depth = end, 0
    while right < len(text):
        if depth == 0 and (text[right] in ")]}" or is_boundary(text, right, is_logic)):
            break
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[right], 0)
        right += 1
    left += 1
    while text[left].isspace():
        left += 1
    return left, right


def call_end(text, begin):
    """Where the call whose name is at `begin` ends."""
    at, depth = text.index("(", begin), 0
    while True:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return at


def span(mutant, text):
    """The part of a scannable text that is written twice."""
    begin, end = mutant.begin, mutant.end
    if mutant.kind in ("constant", "condition", "statement"):
        return begin, end
    if mutant.kind == "bound":
        return begin, call_end(text, begin)
    if mutant.before in ("+=", "-="):
        line = text.rindex("\n", 0, begin) + 1
        start = line + len(text[line:begin]) - len(text[line:begin].lstrip())
        return start, clause(text, begin, end, False)[1]
    return clause(text, begin, end, mutant.kind == "logic")


def replacement(mutant, number, text, scan, begin, end):
    original = text[begin:end]
    if mutant.kind == "statement":
        indent = original[:len(original) - len(original.lstrip())]
        return f"{indent}{{ if (!collMutant({number})) {{ {original.lstrip()} }} }}"
    if mutant.kind == "condition":
        return f"(collMutant({number}) != static_cast<bool>{original})"
    plain = re.sub(r"//[^\n]*", "", text[begin:mutant.begin]) + mutant.after + re.sub(
        r"//[^\n]*", "", text[mutant.end:end])
    return f"(collMutant({number}) ? ({' '.join(plain.split())}) : ({original}))"


def spans_apart(mutants, text):
    """Those mutants, in the order given, whose spans do not overlap with an earlier one's."""
    scan, taken, apart = scannable(text), [], []
    for mutant in mutants:
        begin, end = span(mutant, scan)
        if all(end <= other[0] or begin >= other[1] for other in taken):
            taken.append((begin, end))
            apart.append(mutant)
    return apart


def lines_of(mutant, text):
    """The first and the last line of what is written twice."""
    begin, end = span(mutant, scannable(text))
    return text.count("\n", 0, begin) + 1, text.count("\n", 0, end) + 1


def with_mutants(path, text, numbered, header_path):
    """The source with all mutants of the list of (number, mutant) in it."""
    scan = scannable(text)
    spans = sorted((*span(mutant, scan), number, mutant) for number, mutant in numbered)
    parts, last = [f'#include "{header_path}"\n#line 1 "{path}"\n'], 0
    for begin, end, number, mutant in spans:
        parts += [text[last:begin], replacement(mutant, number, text, scan, begin, end)]
        last = end
    return "".join(parts) + text[last:]
