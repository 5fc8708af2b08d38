"""lit configuration. lit.site.cfg.py, which the build writes, loads this file."""

import os
import shutil
import subprocess

import lit.formats

config.name = "coll"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["inputs", "data", "CMakeLists.txt", "README.md"]

config.test_source_root = os.path.join(config.coll_source_dir, "test")
config.test_exec_root = os.path.join(config.coll_build_dir, "test")

# The tools under test come first, then FileCheck, not, count and split-file.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.coll_build_dir, "bin"), config.llvm_tools_dir,
     config.environment.get("PATH", "")])

# The tests are of the compiler, not of what it has kept.
config.environment["COLL_CACHE_DIR"] = "none"

config.substitutions += [
    ("%data", os.path.join(config.test_source_root, "data")),
    ("%source", config.coll_source_dir),
    ("%lib", os.path.join(config.coll_build_dir, "lib")),
    ("%python", config.python),
]

# Words for REQUIRES and UNSUPPORTED.
if "address" in config.coll_sanitize:
    config.available_features.add("asan")
    # The packaged libraries are not instrumented, and keep their globals on purpose.
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0"
if "thread" in config.coll_sanitize:
    config.available_features.add("tsan")
if os.path.exists(os.path.join(config.coll_build_dir, "bin", "coll-run")):
    config.available_features.add("coll-run")
if os.path.exists(os.path.join(config.coll_build_dir, "bin", "kernel-diff")):
    config.available_features.add("kernel-diff")
if os.path.exists(os.path.join(config.coll_build_dir, "bin", "coll-fuzz")):
    config.available_features.add("coll-fuzz")
if config.coll_has_net:
    config.available_features.add("net")


def may_make_namespaces():
    """Whether jobs can run across network namespaces here; `ip netns exec` needs one of mounts, too."""
    if not shutil.which("ip") or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--net", "--mount", "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


if may_make_namespaces():
    config.available_features.add("netns")


# A user without other processes: the limit counts the threads of all that a user has, and another run of these tests may
# be under way.
few_threads = (f"setpriv --reuid={30000 + os.getpid() % 20000} --clear-groups --inh-caps=+dac_read_search"
               " --ambient-caps=+dac_read_search prlimit")


def may_limit_threads():
    """Whether a command can run here as a user that may have few threads."""
    if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("prlimit"):
        return False
    return subprocess.run([*few_threads.split(), "--nproc=4", "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


if may_limit_threads():
    config.available_features.add("few-threads")
    config.substitutions.append(("%few_threads", few_threads))
