// The one place that names the backends.

#include "runtime/backend.h"
#ifdef COLL_HAS_NET
#include "runtime/backend/net/net.h"
#endif
#include "runtime/backend/threads/threads.h"

namespace coll::rt {

namespace {

using Factory = Result<std::unique_ptr<Backend>> (*)(const BackendOptions &options);

struct Registration {
  const char *name;
  Factory create;
};

constexpr Registration kBackends[] = {
    {"threads", threads::createBackend},
#ifdef COLL_HAS_NET
    {"net", network::createBackend},
#endif
};

} // namespace

std::vector<std::string> backendNames() {
  std::vector<std::string> names;
  for (const Registration &backend : kBackends)
    names.emplace_back(backend.name);
  return names;
}

Result<std::unique_ptr<Backend>> createBackend(const std::string &name,
                                               const BackendOptions &options) {
  std::string known;
  for (const Registration &backend : kBackends) {
    if (name == backend.name)
      return backend.create(options);
    known += (known.empty() ? "" : ", ") + std::string(backend.name);
  }
  return Status::invalid("no backend is called \"" + name + "\"; known: " + known);
}

} // namespace coll::rt
