#!/usr/bin/env python3
"""The runtime starts threads with startThread() (runtime/base/thread.h), which returns a status, and the compiler
with the functions of compiler/large_stack.h.

A std::thread that is constructed with a body throws where the system refuses, and an exception
that leaves a constructor's initialiser or a function without handler ends the process.
"""

import re

from common import SOURCE, Finding, files, line_of, read, run, strip_comments

HELPERS = ("runtime/base/thread.cc", "compiler/large_stack.cc")
START = re.compile(r"\bstd::thread(?:\s+\w+)?\s*[({]\s*[^\s)}]"  # std::thread(body), std::thread t{body}
                   r"|\b\w*(?:thread|watcher)s?_\s*[({]\s*\["  # a member's initialiser
                   r"|\b\w*threads?_?\.(?:emplace|push)_back\(\s*\["
                   r"|\bpthread_create\b|\bstd::async\b")


def check(args):
    for name in files(args.root, *SOURCE, under=("runtime", "compiler")):
        if name in HELPERS:
            continue
        text = strip_comments(read(args.root, name))
        for match in START.finditer(text):
            yield Finding(name, line_of(text, match.start()),
                          "starts a thread by itself: use startThread() of runtime/base/thread.h, in the compiler "
                          "compiler/large_stack.h")


if __name__ == "__main__":
    run(check, __doc__)
