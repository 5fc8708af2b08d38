// The one place that names the backends.

#include "runtime/backend/backend.h"
#ifdef COLL_HAS_NET
#include "runtime/backend/direct/direct.h"
#include "runtime/backend/nccl/nccl.h"
#include "runtime/backend/net/net.h"
#endif
#include "runtime/backend/auto/router.h"
#include "runtime/backend/plugin/plugin.h"
#include "runtime/backend/threads/threads.h"
#include "runtime/base/env.h"
#include "runtime/base/log.h"

#include <algorithm>

namespace coll::rt {

namespace {

using Factory = Result<std::unique_ptr<Backend>> (*)(const BackendOptions &options);

struct Entry {
  const char *name;
  Factory create;
};

#ifdef COLL_HAS_NET
// The backend for host memory, in one process or in several; ranks on GPUs connect over it.
Result<std::unique_ptr<Backend>> createHost(const BackendOptions &options) {
  return options.job ? network::createBackend(options) : threads::createBackend(options);
}

Result<std::unique_ptr<Backend>> createNccl(const BackendOptions &options) {
  COLL_RETURN_IF_ERROR(nccl::available(options));
  Result<std::unique_ptr<Backend>> control = createHost(options);
  if (!control)
    return control;
  return nccl::createBackend(options, control.take());
}

Result<std::unique_ptr<Backend>> createDirect(const BackendOptions &options) {
  COLL_RETURN_IF_ERROR(direct::available(options));
  Result<std::unique_ptr<Backend>> control = createHost(options);
  if (!control)
    return control;
  return direct::createBackend(options, control.take());
}
#endif

#ifdef COLL_HAS_NET
// Whether the ranks meet to find out whether direct can serve them. All ranks have to decide alike.
// If NCCL has connected them, all ranks meet, even those whose routes do not need direct. Without
// NCCL, some ranks may lack a GPU, and no rank knows which: then they meet only if the table, which
// all ranks share, asks for direct.
bool meetsForDirect(const BackendOptions &options, const Routes &routes,
                    const std::vector<std::string> &names) {
  const bool hasNccl = names.front() == "nccl";
  return direct::takes(options).ok() &&
         ((hasNccl && options.numRanks > 1) || routes.demandFor("direct") == Demand::ByTable);
}
#endif

// Stacks the backends that are available: the backend for host memory, then nccl, then direct.
Result<std::unique_ptr<Backend>> createAuto(const BackendOptions &options) {
  Result<Routes> routes = Routes::fromEnv();
  if (!routes)
    return routes.status();
  std::vector<std::string> names = {options.job ? "net" : "threads"};
  Result<std::unique_ptr<Backend>> backend = Status::internal("no backend");
#ifdef COLL_HAS_NET
  if (nccl::available(options).ok()) {
    names.insert(names.begin(), "nccl");
    backend = createNccl(options);
  } else {
    backend = createHost(options);
  }
  if (backend && meetsForDirect(options, *routes, names)) {
    const std::vector<int> local = (*backend)->localRanks();
    Result<direct::Offer> offer =
        direct::offerBackend(options, backend.take(), routes->demandFor("direct"));
    if (!offer)
      return offer.status();
    if (offer->refusal.ok())
      names.insert(names.begin(), "direct");
    else if (local.front() == 0)
      log(LogLevel::Info, "auto does not use backend direct: " + offer->refusal.message());
    backend = std::move(offer->backend);
  }
#else
  backend = threads::createBackend(options);
#endif
  if (!backend)
    return backend;
  return createRouter(options, routes.take(), backend.take(), std::move(names));
}

constexpr Entry kBackends[] = {
    {"threads", threads::createBackend},
#ifdef COLL_HAS_NET
    {"net", network::createBackend},
    {"nccl", createNccl},
    {"direct", createDirect},
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
  // A timeout beyond the limit means no deadline.
  BackendOptions bounded = options;
  bounded.timeoutUs = std::min(options.timeoutUs, kMostTimeoutUs);
  if (plugin::isPlugin(name))
    return plugin::createBackend(name.substr(plugin::kPrefix.size()), bounded);
  std::string known;
  for (const Entry &backend : kBackends) {
    if (name == backend.name)
      return backend.create(bounded);
    known += (known.empty() ? "" : ", ") + std::string(backend.name);
  }
  return Status::invalid("no backend is called \"" + name + "\"; known: " + known +
                         ", plugin:PATH");
}

} // namespace coll::rt
