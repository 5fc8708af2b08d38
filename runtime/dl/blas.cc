#include "runtime/dl/blas.h"

#include "runtime/base/env.h"
#include "runtime/base/log.h"

#include <algorithm>
#include <dlfcn.h>
#include <iterator>
#include <string>
#include <string_view>

namespace coll::rt::dl {

namespace {

// The kernels that OpenBLAS should use, or null to let it choose. A release that is older than the
// processor does not know the model and on Intel falls back to SSE3 code, which is five times
// slower; so the choice is made by feature instead.
const char *preferredCore() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_is("intel"))
    return nullptr;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return "Haswell";
#endif
  return nullptr;
}

// In the Python package scipy-openblas32, the names of OpenBLAS have a prefix.
template <typename Function>
void resolve(void *library, const std::string &name, Function &function) {
  void *found = dlsym(library, name.c_str());
  if (!found)
    found = dlsym(library, ("scipy_" + name).c_str());
  function = reinterpret_cast<Function>(found);
}

void *openLibrary(const std::string &name) {
  // OpenBLAS reads these only while it is being loaded.
  const char *core = preferredCore();
  ScopedEnv coreType("OPENBLAS_CORETYPE", core);
  ScopedEnv threads("OPENBLAS_NUM_THREADS", "1");
  return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Whether these kernels of OpenBLAS include some for small matrices (its SMALL_MATRIX_OPT).
bool hasSmallKernels(std::string_view core) {
  constexpr std::string_view kCores[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
  return std::find(std::begin(kCores), std::end(kCores), core) != std::end(kCores);
}

Blas *load() {
  std::string name = envString(EnvVar::Blas);
  if (name == "none")
    return nullptr;
  void *library = openLibrary(name);
  if (!library) {
    log(LogLevel::Warn, "no matrix library, products will be slow: " + std::string(dlerror()));
    return nullptr;
  }
  static Blas blas;
  resolve(library, "cblas_sgemm", blas.sgemm);
  resolve(library, "cblas_dgemm", blas.dgemm);
  if (!blas.sgemm || !blas.dgemm) {
    log(LogLevel::Warn, name + " has no cblas_sgemm and cblas_dgemm, products will be slow");
    return nullptr;
  }
  // The process may have loaded the library before, with several threads.
  void (*setNumThreads)(int) = nullptr;
  resolve(library, "openblas_set_num_threads", setNumThreads);
  if (setNumThreads)
    setNumThreads(1);
  const char *(*getCore)() = nullptr;
  resolve(library, "openblas_get_corename", getCore);
  blas.hasSmallKernels = getCore && hasSmallKernels(getCore());
  int (*getParallel)() = nullptr;
  resolve(library, "openblas_get_parallel", getParallel);
  if (getParallel && getParallel() == 0) {
    blas.concurrent = false;
    log(LogLevel::Warn, name + " is OpenBLAS without threads: products of several ranks take turns;"
                               " the pthread build is faster");
  }
  return &blas;
}

} // namespace

const Blas *blas() {
  static const Blas *const loaded = load();
  return loaded;
}

} // namespace coll::rt::dl
