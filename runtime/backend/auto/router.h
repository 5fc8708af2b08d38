// router.h - backend `auto`: each call goes to the backend that the routes name for it.
//
// The choice depends on operation, type, size, group, kind of memory and on whether a graph
// captures the call. These are the same on all members, so all members choose the same backend.

#ifndef COLL_RUNTIME_BACKEND_AUTO_ROUTER_H
#define COLL_RUNTIME_BACKEND_AUTO_ROUTER_H

#include "runtime/backend/auto/routes.h"

namespace coll::rt {

// `backend` is named names[0], the backend below it (Backend::below) names[1], and so on.
Result<std::unique_ptr<Backend>> createRouter(const BackendOptions &options, Routes routes,
                                              std::unique_ptr<Backend> backend,
                                              std::vector<std::string> names);

// The first route that fits the call of a group of `ranks`, and whose backend is among `names` and
// accepts the call; `takes(i, call)` asks names[i]. Null if there is none.
struct Chosen {
  const Route *route = nullptr;
  size_t path = 0; // index of names
};
template <typename Takes>
Chosen chooseRoute(const Routes &routes, const std::vector<std::string> &names,
                   const RouteQuery &query, Takes &&takes) {
  for (const Route &route : routes.all())
    for (size_t path = 0; path < names.size(); ++path)
      if (route.backend == names[path] && route.fits(query) && takes(path))
        return {&route, path};
  return {};
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BACKEND_AUTO_ROUTER_H
