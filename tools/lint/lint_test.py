#!/usr/bin/env python3
"""Tests of the lints: each finds what it is for, in a small tree made for it."""

import argparse
import json
import os
import pathlib
import shutil
import tempfile
import unittest
from xml.etree import ElementTree

import check_env
import check_headers
import check_labels
import check_layers
import check_links
import check_names
import check_passes
import check_prose
import check_threads
import environment_page
import report


class LintTest(unittest.TestCase):
    def findings(self, lint, tree):
        """What `lint` says about a tree given as {path: text}."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in tree.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            args = argparse.Namespace(root=root, build=os.path.join(root, "build"))
            return [(f.path, f.line, f.text) for f in lint.check(args)]

    def test_layers(self):
        found = self.findings(check_layers, {
            "runtime/base/status.h": '#include "runtime/step/abi/abi.h"\n#include <string>\n',
            "runtime/step/executor.cc": '#include "runtime/backend/backend.h"\n'
                                   '#include "runtime/backend/threads/world.h"\n',
            "runtime/backend/auto/registry.cc": '#include "runtime/backend/threads/world.h"\n',
            "runtime/backend/mpi/a.cc": '#include "runtime/backend/threads/world.h"\n'
                                        '#include "runtime/backend/backend.h"\n#include <sys/mman.h>\n',
            "runtime/net/a.cc": '// #include "mlir/IR/Value.h"\n#include "llvm/ADT/ArrayRef.h"\n',
            "passes/a.cc": '#include "runtime/step/abi/abi.def"\n#include "runtime/step/executor.h"\n',
            "dialect/a.cc": '#include "passes/passes.h"\n#include "mlir/IR/Value.h"\n',
            "tools/coll-run/main.cc": '#include "passes/passes.h"\n',
            "test/a/CMakeLists.txt": "find_package(GTest QUIET)\n",
            "test/b/CMakeLists.txt": "# Tests.\nfind_package(GTest REQUIRED)\n",
        })
        self.assertEqual([(path, line) for path, line, _ in found], [
            ("dialect/a.cc", 1), ("passes/a.cc", 2), ("runtime/backend/mpi/a.cc", 1),
            ("runtime/base/status.h", 1), ("runtime/net/a.cc", 2), ("test/b/CMakeLists.txt", 2)])

    def test_labels(self):
        td = ('def Coll_SendOp : Coll_Op<"send"> {\n  let description = [{\n'
              '    Constraints: (C1) one. (C2) two.\n  }];\n}\n'
              'def Coll_RecvOp : Coll_Op<"recv"> {\n  let description = [{ no (C1) }];\n}\n')
        cc = 'LogicalResult SendOp::verify() {\n  // (C1)\n  return success();\n}\n'
        found = self.findings(check_labels, {
            "dialect/ops.td": td, "dialect/verify.cc": cc,
            "test/dialect/send.mlir": "func.func @send_c1() {}\n// send_c10\n"})
        self.assertEqual([text for _, _, text in found], [
            "SendOp's verifier has no line labelled (C2)", "no test named send_c2 in test/dialect"])

    def test_links(self):
        found = self.findings(check_links, {
            "README.md": "# A title, here\n[a](x/b.md) [b](x/b.md#two-words) [c](#a-title-here)\n"
                         "[d](none.md) [e](x/b.md#three) `[f](g)`\n```\n[h](i)\n```\n",
            "x/b.md": "## Two words\n[up](../README.md)\n"})
        self.assertEqual([text for _, _, text in found],
                         ["dead link: none.md", "dead anchor: x/b.md#three"])

    def test_names(self):
        body = "".join(f"  f({i});\n" for i in range(100))
        found = self.findings(check_names, {
            "a.cc": f"void f(int) {{\n{body}}}\n\nint g() {{\n  return 1;\n}}\n",
            "b.h": "// TO" "DO: later\n",
            "c.md": "cd /ro" "ot/x; see https://llvm.org and https:/" "/example.invalid/\n",
            "d.py": "x = 1\n" * 701})
        self.assertEqual([(path, text.split(";")[0]) for path, _, text in found], [
            ("a.cc", "function of 102 lines"), ("b.h", "note to oneself: TO" "DO"),
            ("c.md", "path of one machine: /ro" "ot/x"),
            ("c.md", "host that is not on the list in check_names.py: example.invalid"),
            ("d.py", "701 lines")])

    def test_env(self):
        table = ('// ## Runs\n{EnvVar::A, "COLL_A", "1",\n "first "\n "part"},\n'
                 '{EnvVar::B, "COLL_B", "", "other"},\n')
        tree = {
            "runtime/base/env.cc": table + 'getenv("A");\n',
            "docs/environment.md": environment_page.page(table),
            "runtime/dl/cuda.cc": 'dlopen("a", 0);\n',
            "passes/a.cc": '// getenv("A")\nauto *x = std::getenv("A");\n',
            "runtime/net/a.cc": 'dlsym(h, "a");\n'}
        self.assertIn("| `COLL_A` | `1` | first part |\n| `COLL_B` | – | other |\n",
                      tree["docs/environment.md"])
        self.assertEqual([(path, line) for path, line, _ in self.findings(check_env, tree)],
                         [("passes/a.cc", 2), ("runtime/net/a.cc", 1)])
        tree["docs/environment.md"] += "x"
        self.assertIn(("docs/environment.md", 1),
                      [(path, line) for path, line, _ in self.findings(check_env, tree)])

    def test_prose(self):
        tree = {
            "a.cc": "// Closes it. Of a group, the first.\nint a; // What of a b\n"
                    'auto *s = "nobody";\n',
            "b.py": "# Who asks waits, and nobody\n# answers.\nx = 1\n",
            "x/README.md": "one\n" * 121,
            "x/c.md": f"| {'x' * 130} |\n{'x' * 121}\n{'x' * 120}\n```\n{'x' * 130}\n```\n"}
        found = [(path, line) for path, line, _ in self.findings(check_prose, tree)]
        self.assertEqual(sorted(found), [("a.cc", 1), ("a.cc", 2), ("b.py", 1), ("b.py", 1),
                                         ("x/README.md", 1), ("x/c.md", 2)])
        tree["tools/lint/prose_counts.json"] = json.dumps({"'nobody'": 1})
        self.assertEqual(len(self.findings(check_prose, tree)), 5)

    def test_passes(self):
        found = self.findings(check_passes, {
            "passes/passes.td": 'def ABPass : Pass<"coll-a-b">;\ndef CPass : Pass<"coll-d">;\n',
            "passes/transform/a_b.cc": "", "test/passes/a-b/basic.mlir": ""})
        self.assertEqual([text for _, _, text in found], [
            "coll-d should be DPass, not CPass", "no file d.cc under passes",
            "no test in test/passes/d/"])

    def test_threads(self):
        found = self.findings(check_threads, {
            "runtime/base/thread.cc": "thread = std::thread(std::move(body));\n",
            "runtime/a.h": "std::thread thread_;\nfor (std::thread &thread : threads_)\n",
            "runtime/a.cc": "A::A() : thread_([this] { run(); }) {}\n// std::thread(body)\n"
                            "thread_ = std::thread([] {});\nthreads.emplace_back([] {});\n",
            "tools/a.cc": "std::thread(body);\n"})
        self.assertEqual([(path, line) for path, line, _ in found],
                         [("runtime/a.cc", 1), ("runtime/a.cc", 3), ("runtime/a.cc", 4)])

    def test_headers_without_build(self):
        with self.assertRaises(check_headers.Skip):
            self.findings(check_headers, {"runtime/a.h": ""})

    @unittest.skipUnless(shutil.which("c++"), "no c++")
    def test_headers(self):
        command = {"file": "runtime/a.cc", "directory": ".", "command": "c++ -I. -c runtime/a.cc"}
        header = "#ifndef GUARD\n#define GUARD\n%s#endif\n"
        found = self.findings(check_headers, {
            "build/compile_commands.json": json.dumps([command]),
            "runtime/a.cc": '// Compiled with the build, not by the lint.\n'
                            '#include "runtime/first.h"\n#include "runtime/second.h"\n',
            "runtime/first.h": header % "std::string s;\n",
            "runtime/second.h": header % "std::string s;\n",
            "runtime/fine.h": header % "#include <string>\nstd::string s;\n",
            "runtime/unguarded.h": "#include <string>\n"})
        self.assertEqual([path for path, _, _ in found],
                         ["runtime/unguarded.h", "runtime/second.h"])
        generated = {"file": "build/b.cc", "directory": ".", "command": "c++ -c build/b.cc"}
        with self.assertRaisesRegex(check_headers.Skip, "build/b.cc is generated and missing: build first"):
            self.findings(check_headers, {"build/compile_commands.json": json.dumps([generated])})

    def test_report(self):
        def ctest(name, status):
            return f'<testcase name="{name}" status="{status}"/>'

        def program(*bodies):
            rows = "".join(f'<testcase name="t{i}" classname="S" status="run">{body}</testcase>'
                           for i, body in enumerate(bodies))
            return f"<testsuites><testsuite>{rows}</testsuite></testsuites>"

        with tempfile.TemporaryDirectory() as root:
            suite = pathlib.Path(root, "ctest.xml")
            suite.write_text("<testsuite>" + ctest("fine", "run") + ctest("bad", "fail") +
                             ctest("broke", "fail") + ctest("leaky", "fail") +
                             ctest("plain", "run") + "</testsuite>")
            pathlib.Path(root, "fine.xml").write_text(
                program("", "", '<skipped message="a.cc:3&#x0A;no GPU"/>'))
            pathlib.Path(root, "bad.xml").write_text(program("", "<failure/>"))
            pathlib.Path(root, "leaky.xml").write_text(program(""))
            passed, failed, skipped = report.count("unit", f"{suite},{root}")
        self.assertEqual(passed, 2 + 1 + 1 + 1)
        self.assertEqual([name for name, _ in failed],
                         ["unit: bad: S.t1", "unit: broke", "unit: leaky"])
        self.assertEqual([reason for _, reason in skipped], ["no GPU"])

    def test_cause_of_a_failure(self):
        def cause(*lines):
            case = ElementTree.Element("testcase")
            ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
            return report.cause(case)

        noise = ["coll: warn: noise"] * 200
        begun = [f"[ RUN      ] S.{name}" for name in "ab"]
        crash = "==7==ERROR: AddressSanitizer: heap-use-after-free"
        found = cause(begun[0], *noise, "[       OK ] S.a (0 ms)", begun[1], *noise, crash, "#0 f")
        self.assertEqual(found, ["broke off in S.b", crash, "#0 f"])
        # Nothing that looks like a finding: how the output ends.
        found = cause(begun[0], "[       OK ] S.a (0 ms)", *noise, "Killed")
        self.assertEqual(len(found), 1 + report.LAST_LINES)
        self.assertEqual((found[0], found[-1]), ("…", "Killed"))
        # A long one: the first lines and the last.
        found = cause("a.cc:1: Failure", *noise, "[  FAILED  ] S.a")
        self.assertEqual((found[0], found[-1]), ("a.cc:1: Failure", "[  FAILED  ] S.a"))
        self.assertEqual(len(found), report.CAUSE_LINES + 1 + report.LAST_LINES)


if __name__ == "__main__":
    unittest.main()
