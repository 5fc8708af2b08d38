#include "runtime/backend/auto/router.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace coll::rt {

namespace {

struct Shared {
  Routes routes = Routes::defaults();
  std::unique_ptr<Backend> backend;
  std::vector<std::string> names;
  std::vector<const Backend *> paths; // by name
  int numRanks = 1;
  int64_t timeoutUs = 0;
  bool asksForGraphs = false; // whether a route to one of the paths asks for captured calls
  bool hasUnasked = false;    // direct is among the paths, but no table names it

  // Whether the path accepts the call. Without a table, direct accepts only what the path below it
  // accepts too, because larger calls go there.
  bool takes(size_t path, const Call &call, bool isGpu) const;
};

// Whether the backend of this name accepts memory of GPUs, or of the host.
bool takesMemory(const std::string &name, bool isGpu) {
  return name == "net" || isGpu == (name != "threads");
}

bool Shared::takes(size_t path, const Call &call, bool isGpu) const {
  if (!takesMemory(names[path], isGpu) || !paths[path]->supports(call).ok())
    return false;
  return !hasUnasked || path != 0 || paths[1]->supports(call).ok();
}

class RouterRequest final : public Request {
public:
  RouterRequest(size_t path, Request *request) : path(path), request(request) {}
  const size_t path;
  Request *const request;
};

class RouterEndpoint final : public Endpoint {
public:
  RouterEndpoint(Shared &shared, std::unique_ptr<Endpoint> top) : shared_(shared) {
    top_ = std::move(top);
    for (Endpoint *path = top_.get(); paths_.size() < shared.names.size(); path = path->host())
      paths_.push_back(path);
  }
  ~RouterEndpoint() override { inFlight_.clear(); }

  Result<std::unique_ptr<Communicator>> communicator(std::vector<int> ranks) override;
  Status wait(Request *request) override;
  bool test(Request *request) override;
  int inFlight() const override { return static_cast<int>(inFlight_.size()); }
  // The backend on top passes these on to the backends below it.
  void enter() override { top_->enter(); }
  void leave() override {
    top_->leave();
    inFlight_.clear();
  }
  void abort(const Status &cause) override { top_->abort(cause); }
  Status synchronize(void *stream) override;
  Status health() override { return top_->health(); }
  Endpoint *host() override { return paths_.back(); }
  int gpuOf(const void *data) const override { return top_->gpuOf(data); }
  bool takesCaptures() const override { return top_->takesCaptures(); }
  bool isCapturing(void *stream) const override { return top_->isCapturing(stream); }

  Result<size_t> choose(const Call &call, const std::vector<int> &ranks) const;
  // The path that allocates and registers a group's GPU memory: the one that a route names for root
  // updates, which need such memory; without such a route, that of the group's largest calls.
  size_t keeperOf(const std::vector<int> &ranks) const;
  Result<Request *> adopt(size_t path, Result<Request *> started);

private:
  RouteQuery queryOf(const Call &call, const std::vector<int> &ranks, bool isGpu) const;

  Shared &shared_;
  std::unique_ptr<Endpoint> top_;
  std::vector<Endpoint *> paths_; // by name
  std::vector<std::unique_ptr<RouterRequest>> inFlight_;
};

class RouterCommunicator final : public Communicator {
public:
  RouterCommunicator(RouterEndpoint &endpoint, std::vector<std::unique_ptr<Communicator>> paths)
      : endpoint_(endpoint), paths_(std::move(paths)) {}

  const std::vector<int> &ranks() const override { return paths_[0]->ranks(); }
  int position() const override { return paths_[0]->position(); }
  Status run(const Call &call) override {
    Result<size_t> path = choose(call);
    if (!path)
      return path.status();
    // Calls in flight on other paths have to progress too.
    if (endpoint_.inFlight() == 0)
      return paths_[*path]->run(call);
    Result<Request *> request = endpoint_.adopt(*path, paths_[*path]->start(call));
    return request ? endpoint_.wait(*request) : request.status();
  }
  Result<Request *> start(const Call &call) override {
    Result<size_t> path = choose(call);
    if (!path)
      return path.status();
    return endpoint_.adopt(*path, paths_[*path]->start(call));
  }
  Result<std::unique_ptr<Registration>> registerMemory(void *data, int64_t bytes) override {
    return keeper().registerMemory(data, bytes);
  }
  Result<std::unique_ptr<Registration>> allocate(int64_t bytes) override {
    return keeper().allocate(bytes);
  }
  bool reachesMembers() const override { return keeper().reachesMembers(); }
  std::vector<void *> addressesOf(const void *data, int64_t bytes) const override {
    return keeper().addressesOf(data, bytes);
  }

private:
  Result<size_t> choose(const Call &call) const { return endpoint_.choose(call, ranks()); }
  Communicator &keeper() const { return *paths_[endpoint_.keeperOf(ranks())]; }
  RouterEndpoint &endpoint_;
  std::vector<std::unique_ptr<Communicator>> paths_;
};

RouteQuery RouterEndpoint::queryOf(const Call &call, const std::vector<int> &ranks,
                                   bool isGpu) const {
  RouteQuery query = rt::queryOf(call, static_cast<int>(ranks.size()), isGpu);
  query.isWorld = query.ranks == shared_.numRanks && std::is_sorted(ranks.begin(), ranks.end());
  query.isCaptured =
      shared_.asksForGraphs && isGpu && call.stream && top_->isCapturing(call.stream);
  return query;
}

Result<size_t> RouterEndpoint::choose(const Call &call, const std::vector<int> &ranks) const {
  const void *data = call.src ? call.src : call.dst;
  // A barrier has no memory, but it may have a stream of a GPU.
  const bool isGpu = data ? gpuOf(data) >= 0 : call.stream != nullptr;
  auto takes = [&](size_t path) { return shared_.takes(path, call, isGpu); };
  Chosen chosen = chooseRoute(shared_.routes, shared_.names, queryOf(call, ranks, isGpu), takes);
  if (chosen.route)
    return chosen.path;
  std::string names;
  for (const std::string &name : shared_.names)
    names += (names.empty() ? "" : ", ") + name;
  // A call whose kernel fills the whole GPU needs a route of its own.
  const char *hint = call.kind == OpKind::RootUpdate
                         ? "; direct takes it where COLL_ROUTES names a table with a route "
                           "{\"op\": \"root_update\", \"backend\": \"direct\"}"
                         : "";
  return Status(kCollUnsupported, describe(call) + ": no backend supports it on " +
                                      (isGpu ? "GPU" : "host") + " memory; there are " + names +
                                      hint);
}

size_t RouterEndpoint::keeperOf(const std::vector<int> &ranks) const {
  Call call;
  call.kind = OpKind::RootUpdate;
  // A route that is limited to a type, size or kind of launch asks for it, too.
  for (const Route &route : shared_.routes.all()) {
    RouteQuery query = queryOf(call, ranks, /*isGpu=*/true);
    query.dtype = route.dtype.value_or(query.dtype);
    query.bytes = route.maxBytes.value_or(query.bytes);
    query.isCaptured = route.isCaptured.value_or(query.isCaptured);
    for (size_t path = 0; route.kind == call.kind && path < shared_.names.size(); ++path)
      if (route.backend == shared_.names[path] && route.fits(query) &&
          shared_.takes(path, call, true))
        return path;
  }
  call.kind = OpKind::AllReduce;
  RouteQuery query = queryOf(call, ranks, /*isGpu=*/true);
  query.bytes = INT64_MAX;
  auto takes = [&](size_t path) { return shared_.takes(path, call, true); };
  return chooseRoute(shared_.routes, shared_.names, query, takes).path;
}

// Each path waits for the calls that it has put on the stream.
Status RouterEndpoint::synchronize(void *stream) {
  for (size_t i = paths_.size() - 1; i-- > 1;)
    if (Status done = paths_[i]->synchronize(stream); !done.ok()) {
      top_->abort(done);
      return done;
    }
  return top_->synchronize(stream);
}

Result<Request *> RouterEndpoint::adopt(size_t path, Result<Request *> started) {
  if (!started)
    return started;
  inFlight_.push_back(std::make_unique<RouterRequest>(path, *started));
  return static_cast<Request *>(inFlight_.back().get());
}

Result<std::unique_ptr<Communicator>> RouterEndpoint::communicator(std::vector<int> ranks) {
  std::vector<std::unique_ptr<Communicator>> paths;
  for (Endpoint *path : paths_) {
    Result<std::unique_ptr<Communicator>> made = path->communicator(ranks);
    if (!made)
      return made;
    paths.push_back(made.take());
  }
  return std::unique_ptr<Communicator>(new RouterCommunicator(*this, std::move(paths)));
}

bool RouterEndpoint::test(Request *request) {
  auto *own = static_cast<RouterRequest *>(request);
  for (const std::unique_ptr<RouterRequest> &other : inFlight_)
    if (other->path != own->path) {
      (void)paths_[other->path]->test(other->request);
      break;
    }
  return paths_[own->path]->test(own->request);
}

Status RouterEndpoint::wait(Request *request) {
  auto it = std::find_if(inFlight_.begin(), inFlight_.end(),
                         [&](const auto &owned) { return owned.get() == request; });
  if (it == inFlight_.end())
    return Status::invalid("no such request is in flight");
  const size_t path = (*it)->path;
  const bool mixed = std::any_of(inFlight_.begin(), inFlight_.end(),
                                 [&](const auto &other) { return other->path != path; });
  auto begin = std::chrono::steady_clock::now();
  while (mixed && !test(request)) {
    auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > std::chrono::microseconds(shared_.timeoutUs)) {
      abort({kCollTimeout,
             "no completion within " + std::to_string(shared_.timeoutUs / 1000) + " ms"});
      break;
    }
    std::this_thread::sleep_for(
        std::min(waited / 8, std::chrono::steady_clock::duration(std::chrono::microseconds(200))));
  }
  Request *inner = (*it)->request;
  inFlight_.erase(it);
  return paths_[path]->wait(inner);
}

class RouterBackend final : public Backend {
public:
  explicit RouterBackend(Shared shared) : shared_(std::move(shared)) {}

  std::vector<int> localRanks() const override { return shared_.backend->localRanks(); }
  Result<std::unique_ptr<Endpoint>> endpoint(int rank) override {
    Result<std::unique_ptr<Endpoint>> top = shared_.backend->endpoint(rank);
    if (!top)
      return top;
    return std::unique_ptr<Endpoint>(new RouterEndpoint(shared_, top.take()));
  }
  Status supports(const Call &call) const override {
    Status first = shared_.backend->supports(call);
    for (const Backend *path : shared_.paths)
      if (path->supports(call).ok())
        return {};
    return first;
  }

private:
  Shared shared_;
};

} // namespace

Result<std::unique_ptr<Backend>> createRouter(const BackendOptions &options, Routes routes,
                                              std::unique_ptr<Backend> backend,
                                              std::vector<std::string> names) {
  Shared shared;
  shared.routes = std::move(routes);
  shared.backend = std::move(backend);
  shared.names = std::move(names);
  for (const Backend *path = shared.backend.get();
       path && shared.paths.size() < shared.names.size(); path = path->below())
    shared.paths.push_back(path);
  shared.names.resize(shared.paths.size());
  const std::vector<Route> &all = shared.routes.all();
  shared.asksForGraphs = std::any_of(all.begin(), all.end(), [&](const Route &route) {
    return route.isCaptured &&
           std::find(shared.names.begin(), shared.names.end(), route.backend) != shared.names.end();
  });
  shared.hasUnasked =
      shared.names.front() == "direct" && shared.routes.demandFor("direct") != Demand::ByTable;
  shared.numRanks = options.numRanks;
  shared.timeoutUs = options.timeoutUs;
  return std::unique_ptr<Backend>(new RouterBackend(std::move(shared)));
}

} // namespace coll::rt
