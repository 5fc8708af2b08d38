// The one place that names the backends.

#include "runtime/backend.h"
#ifdef COLL_HAS_NET
#include "runtime/backend/nccl/nccl.h"
#include "runtime/backend/net/net.h"
#endif
#include "runtime/backend/threads/threads.h"
#include "runtime/router.h"

namespace coll::rt {

namespace {

using Factory = Result<std::unique_ptr<Backend>> (*)(const BackendOptions &options);

struct Entry {
  const char *name;
  Factory create;
};

#ifdef COLL_HAS_NET
// Its ranks meet on host memory, in one process or in several.
Result<std::unique_ptr<Backend>> createNccl(const BackendOptions &options) {
  COLL_RETURN_IF_ERROR(nccl::available(options));
  Result<std::unique_ptr<Backend>> control =
      options.job ? network::createBackend(options) : threads::createBackend(options);
  if (!control)
    return control;
  return nccl::createBackend(options, control.take());
}
#endif

// One process or several decides what serves host memory.
Result<std::unique_ptr<Backend>> createAuto(const BackendOptions &options) {
  Result<Routes> routes = Routes::fromEnv();
  if (!routes)
    return routes.status();
  std::vector<std::string> names = {options.job ? "net" : "threads"};
  bool hasNccl = false;
#ifdef COLL_HAS_NET
  hasNccl = nccl::available(options).ok();
#endif
  if (hasNccl)
    names.insert(names.begin(), "nccl");
  Result<std::unique_ptr<Backend>> backend = createBackend(names.front(), options);
  if (!backend)
    return backend;
  return createRouter(options, routes.take(), backend.take(), std::move(names));
}

constexpr Entry kBackends[] = {
    {"threads", threads::createBackend},
#ifdef COLL_HAS_NET
    {"net", network::createBackend},
    {"nccl", createNccl},
#endif
    {"auto", createAuto},
};

} // namespace

std::vector<std::string> backendNames() {
  std::vector<std::string> names;
  for (const Entry &backend : kBackends)
    names.emplace_back(backend.name);
  return names;
}

Result<std::unique_ptr<Backend>> createBackend(const std::string &name,
                                               const BackendOptions &options) {
  std::string known;
  for (const Entry &backend : kBackends) {
    if (name == backend.name)
      return backend.create(options);
    known += (known.empty() ? "" : ", ") + std::string(backend.name);
  }
  return Status::invalid("no backend is called \"" + name + "\"; known: " + known);
}

} // namespace coll::rt
