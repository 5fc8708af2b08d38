#include "runtime/backend/plugin/plugin.h"

#include "runtime/backend/plugin/backend_plugin.h"
#include "runtime/dl/library.h"

#include <algorithm>
#include <numeric>

namespace coll::rt::plugin {

namespace {

static_assert(static_cast<int>(OpKind::Permute) == COLL_CALL_PERMUTE &&
              static_cast<int>(OpKind::Barrier) == COLL_CALL_BARRIER &&
              static_cast<int>(OpKind::Recv) == COLL_CALL_RECV);
static_assert(static_cast<int>(kCollXor) == static_cast<int>(COLL_XOR));

// A plugin's table of functions, and the name that its failures are reported under.
struct Table {
  const coll_backend_functions *functions;
  std::string name;

  // The status of a function that has returned `code`.
  Status status(int32_t code, coll_backend_failure &failure) const {
    if (code == kCollOk)
      return {};
    failure.message[sizeof(failure.message) - 1] = 0;
    const std::string text = "backend plugin \"" + name + "\": " + failure.message;
    if (code < kCollOk || code > kCollInternal)
      return {kCollInternal,
              text + " (its code " + std::to_string(code) + " is not one of coll's)"};
    return {static_cast<CollCode>(code), text};
  }
  // Calls `function(arguments…, failure)`.
  template <typename... Parameters, typename... Arguments>
  Status call(int32_t (*function)(Parameters...), Arguments... arguments) const {
    coll_backend_failure failure = {};
    failure.struct_size = sizeof(failure);
    return status(function(arguments..., &failure), failure);
  }
};

coll_backend_call toPlain(const Call &call) {
  coll_backend_call plain = {};
  plain.struct_size = sizeof(plain);
  plain.kind = static_cast<int32_t>(call.kind);
  plain.dtype = call.dtype;
  plain.reduction = call.reduction;
  plain.widens = call.accumulation == kCollAccumulateF32;
  plain.rank_order = call.order == kCollOrderRank;
  plain.root = call.root;
  plain.peer = call.peer;
  plain.num_pairs = call.numPairs;
  plain.pairs = call.pairs;
  plain.tag = call.tag;
  plain.src = call.src;
  plain.dst = call.dst;
  plain.outer = call.outer;
  plain.count = call.count;
  plain.dst_outer = call.dstOuter;
  plain.dst_count = call.dstCount;
  plain.location = call.site.loc;
  return plain;
}

struct PluginRequest final : Request {
  void *raw = nullptr;
};

class PluginEndpoint;

class PluginCommunicator final : public Communicator {
public:
  PluginCommunicator(PluginEndpoint &endpoint, std::vector<int> ranks, int position, void *raw)
      : endpoint_(endpoint), ranks_(std::move(ranks)), position_(position), raw_(raw) {}
  ~PluginCommunicator() override;

  const std::vector<int> &ranks() const override { return ranks_; }
  int position() const override { return position_; }
  Status run(const Call &call) override;
  Result<Request *> start(const Call &call) override;

private:
  PluginEndpoint &endpoint_;
  const std::vector<int> ranks_;
  const int position_;
  void *const raw_;
};

class PluginEndpoint final : public Endpoint {
public:
  PluginEndpoint(const Backend &backend, const Table &table, int rank, int numRanks, void *raw)
      : backend_(backend), table_(table), rank_(rank), numRanks_(numRanks), raw_(raw) {}
  ~PluginEndpoint() override {
    leave();
    table_.functions->quit(raw_);
  }

  Result<std::unique_ptr<Communicator>> communicator(std::vector<int> ranks) override {
    const auto own = std::find(ranks.begin(), ranks.end(), rank_);
    if (own == ranks.end())
      return Status::invalid("rank " + std::to_string(rank_) + " is not a member of group " +
                             describeGroup(ranks));
    for (int rank : ranks)
      if (rank < 0 || rank >= numRanks_)
        return Status::invalid("group " + describeGroup(ranks) + ": there is no rank " +
                               std::to_string(rank));
    const int position = static_cast<int>(own - ranks.begin());
    const std::vector<int32_t> plain(ranks.begin(), ranks.end());
    void *group = nullptr;
    COLL_RETURN_IF_ERROR(table_.call(table_.functions->open_group, raw_, plain.data(),
                                     static_cast<int32_t>(plain.size()), position, &group));
    return std::unique_ptr<Communicator>(
        new PluginCommunicator(*this, std::move(ranks), position, group));
  }

  Status wait(Request *request) override {
    const auto own = std::find_if(started_.begin(), started_.end(),
                                  [&](const auto &each) { return each.get() == request; });
    if (own == started_.end())
      return Status::invalid("no such request is in flight");
    void *raw = (*own)->raw;
    started_.erase(own);
    return table_.call(table_.functions->wait, raw_, raw);
  }
  bool test(Request *request) override {
    return table_.functions->test(raw_, static_cast<PluginRequest *>(request)->raw) != 0;
  }
  Status health() override { return table_.call(table_.functions->health, raw_); }
  int inFlight() const override { return static_cast<int>(started_.size()); }
  void enter() override { table_.functions->enter(raw_); }
  void leave() override {
    table_.functions->leave(raw_);
    started_.clear();
  }
  void abort(const Status &cause) override {
    table_.functions->abort(raw_, cause.code(), cause.message().c_str());
  }

  const Table &table() const { return table_; }
  Result<Request *> start(void *group, const Call &call) {
    if (Status taken = backend_.supports(call); !taken.ok())
      return taken.annotate(describe(call));
    const coll_backend_call plain = toPlain(call);
    auto request = std::make_unique<PluginRequest>();
    COLL_RETURN_IF_ERROR(table_.call(table_.functions->start, group, &plain, &request->raw));
    started_.push_back(std::move(request));
    return static_cast<Request *>(started_.back().get());
  }

private:
  const Backend &backend_;
  const Table &table_;
  const int rank_, numRanks_;
  void *const raw_;
  std::vector<std::unique_ptr<PluginRequest>> started_;
};

PluginCommunicator::~PluginCommunicator() { endpoint_.table().functions->close_group(raw_); }

Status PluginCommunicator::run(const Call &call) {
  Result<Request *> request = endpoint_.start(raw_, call);
  return request ? endpoint_.wait(*request) : request.status();
}

Result<Request *> PluginCommunicator::start(const Call &call) {
  return endpoint_.start(raw_, call);
}

class PluginBackend final : public Backend {
public:
  PluginBackend(Table table, const BackendOptions &options)
      : table_(std::move(table)), numRanks_(options.numRanks), job_(options.job) {}
  ~PluginBackend() override {
    if (raw_)
      table_.functions->destroy(raw_);
  }

  Status open(int64_t timeoutUs) {
    coll_backend_job job = {};
    job.struct_size = sizeof(job);
    job.num_ranks = numRanks_;
    job.timeout_us = timeoutUs;
    if (job_) {
      job.rank = job_->rank;
      job.world_size = job_->worldSize;
      job.bootstrap = job_->bootstrap.c_str();
      job.secret = job_->secret.c_str();
    }
    return table_.call(table_.functions->create, &job, &raw_);
  }

  std::vector<int> localRanks() const override {
    if (job_)
      return {job_->rank};
    std::vector<int> ranks(static_cast<size_t>(numRanks_));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
  Result<std::unique_ptr<Endpoint>> endpoint(int rank) override {
    const std::vector<int> ranks = localRanks();
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
      return Status::invalid("there is no rank " + std::to_string(rank) + " in this process");
    void *raw = nullptr;
    COLL_RETURN_IF_ERROR(table_.call(table_.functions->join, raw_, rank, &raw));
    return std::unique_ptr<Endpoint>(new PluginEndpoint(*this, table_, rank, numRanks_, raw));
  }
  Status supports(const Call &call) const override {
    COLL_RETURN_IF_ERROR(Backend::supports(call));
    if (call.stream)
      return {kCollUnsupported, "plugins take host memory"};
    if (!table_.functions->supports)
      return {};
    const coll_backend_call plain = toPlain(call);
    return table_.call(table_.functions->supports, raw_, &plain);
  }

private:
  const Table table_;
  const int numRanks_;
  const std::optional<JobOptions> job_;
  void *raw_ = nullptr;
};

// The name of a function that the table lacks; null if it is complete.
const char *missing(const coll_backend_functions &table) {
#define COLL_REQUIRE(function)                                                                     \
  if (!table.function)                                                                             \
  return #function
  COLL_REQUIRE(name);
  COLL_REQUIRE(create);
  COLL_REQUIRE(destroy);
  COLL_REQUIRE(join);
  COLL_REQUIRE(quit);
  COLL_REQUIRE(enter);
  COLL_REQUIRE(leave);
  COLL_REQUIRE(abort);
  COLL_REQUIRE(health);
  COLL_REQUIRE(open_group);
  COLL_REQUIRE(close_group);
  COLL_REQUIRE(start);
  COLL_REQUIRE(wait);
  COLL_REQUIRE(test);
#undef COLL_REQUIRE
  return nullptr;
}

Result<Table> load(const std::string &path) {
  if (path.empty())
    return Status::invalid("backend plugin: its library is missing: plugin:/path/of/library.so");
  Result<dl::Library> library = dl::Library::open(path);
  if (!library)
    return library.status();
  const std::string what = "'" + path + "' is not a backend plugin: ";
  auto *entry = library->symbol<const coll_backend_functions *(uint32_t)>("coll_backend_plugin");
  if (!entry)
    return Status(kCollUnsupported, what + "it exports no coll_backend_plugin()");
  const coll_backend_functions *table = entry(COLL_BACKEND_ABI);
  if (!table)
    return Status(kCollUnsupported, what + "it does not support ABI " +
                                        std::to_string(COLL_BACKEND_ABI) +
                                        ", which this coll uses");
  if (table->struct_size < sizeof(coll_backend_functions))
    return Status(kCollUnsupported, what + "its table has " + std::to_string(table->struct_size) +
                                        " bytes, expected " +
                                        std::to_string(sizeof(coll_backend_functions)));
  if (const char *name = missing(*table))
    return Status(kCollUnsupported, what + "its table has no " + name);
  return Table{table, table->name};
}

} // namespace

Result<std::unique_ptr<Backend>> createBackend(const std::string &path,
                                               const BackendOptions &options) {
  Result<Table> table = load(path);
  if (!table)
    return table.status();
  auto backend = std::make_unique<PluginBackend>(table.take(), options);
  COLL_RETURN_IF_ERROR(backend->open(options.timeoutUs));
  return std::unique_ptr<Backend>(std::move(backend));
}

} // namespace coll::rt::plugin
