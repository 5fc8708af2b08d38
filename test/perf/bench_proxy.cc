// bench-proxy - plays NCCL's proxy threads, on the processor alone: two processes, in each one
// thread that posts and tests the steps of all channels in turn, at most 8 of each under way.
//
//   bench-proxy [--wire=plugin|socket] [--channels=8] [--chunk=524288] [--sizes=65536,…]
//     [--ways=one,both,turns] [--gap-us=8] [--lane-mbps=12000] [--ms=300] [--sockets=16]
//     [--threads=4] [--plugin=PATH] [--label=TEXT]
//
// The wire is libnccl-net-coll.so, loaded as NCCL does and set by COLL_NET_…, or the scheme of
// NCCL's own Socket transport with --sockets and --threads per connection. `turns` goes there
// and back. Between two operations a process does nothing for --gap-us, as a kernel launch takes,
// and a step may be sent once a GPU would have filled it at --lane-mbps megabytes a second.
// Prints one JSON object per way and size: microseconds of an operation, and the context
// switches and processor time of both processes per message. First and last word of every
// message are checked.

#include "runtime/base/env.h"
#include "test/net/nccl_plugin_api.h"
#include "test/perf/socket_scheme.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace coll;
using net::nowUs;

namespace {

constexpr uint64_t kSteps = 8;
constexpr int64_t kPatienceUs = 20'000'000;

struct Options {
  std::string wire = "plugin", label = "plugin", ways = "one,both", plugin = COLL_TEST_PLUGIN;
  std::vector<size_t> sizes = {64 << 10, 1 << 20, 16 << 20, 256 << 20};
  size_t channels = 8, chunk = 512 << 10;
  int sockets = 16, threads = 4;
  int64_t gapUs = 8, laneMbps = 12'000, ms = 300;
};

// The state that the two processes share.
struct Shared {
  std::atomic<int> arrived, iterations;
  double us[2];
  rusage used[2];
  uint8_t handles[2][64][net::nccl::kHandleBytes];
};

Shared *shared;
int rank = 0;

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "bench-proxy, rank %d: %s\n", rank, what.c_str());
  std::_Exit(1);
}

void require(bool good, const char *what) {
  if (!good)
    fail(what);
}

void barrier() {
  static int generation = 0;
  ++generation;
  shared->arrived.fetch_add(1);
  for (int64_t end = nowUs() + kPatienceUs; shared->arrived.load() < 2 * generation;) {
    require(nowUs() < end, "the other process does not come");
    usleep(20);
  }
}

//===-- wires -------------------------------------------------------------------------===//

class Wire {
public:
  virtual ~Wire() = default;
  // Null if there is no room now.
  virtual void *post(size_t channel, bool receives, void *data, size_t bytes) = 0;
  virtual bool test(size_t channel, bool receives, void *request) = 0;
};

class PluginWire final : public Wire {
public:
  explicit PluginWire(const Options &options) {
    size_t channels = options.channels;
    rt::Result<rt::dl::Library> library = rt::dl::Library::open(options.plugin.c_str());
    require(library.ok(), "no plugin");
    library_ = std::make_unique<rt::dl::Library>(library.take());
    api_ = net::nccl::test::findApi(*library_, 11);
    require(api_ && api_->init(nullptr, nullptr) == net::nccl::kNcclSuccess, "init");
    std::vector<void *> listeners(channels);
    for (size_t i = 0; i < channels; ++i)
      require(!api_->listen(0, shared->handles[rank][i], &listeners[i]), "listen");
    barrier();
    comms_[0].resize(channels);
    comms_[1].resize(channels);
    auto all = [](const std::vector<void *> &comms) {
      return std::find(comms.begin(), comms.end(), nullptr) == comms.end();
    };
    int64_t end = nowUs() + kPatienceUs;
    while (!all(comms_[0]) || !all(comms_[1])) {
      require(nowUs() < end, "no connection");
      for (size_t i = 0; i < channels; ++i) {
        net::nccl::NcclDeviceHandle ignored = {}, *handle = &ignored;
        if (!comms_[0][i])
          require(!api_->connect(0, shared->handles[1 - rank][i], &comms_[0][i]), "connect");
        if (!comms_[1][i])
          require(!api_->accept(listeners[i], &comms_[1][i], &handle), "accept");
      }
    }
    for (void *listener : listeners)
      api_->closeListen(listener);
  }
  ~PluginWire() override {
    for (void *comm : comms_[0])
      api_->closeSend(comm);
    for (void *comm : comms_[1])
      api_->closeRecv(comm);
    api_->finalize();
  }

  void *post(size_t channel, bool receives, void *data, size_t bytes) override {
    void *request = nullptr, *comm = comms_[receives ? 1 : 0][channel];
    require(!(receives ? api_->irecv(comm, data, bytes, 0, nullptr, nullptr, &request)
                       : api_->isend(comm, data, bytes, 0, nullptr, nullptr, &request)),
            "post");
    return request;
  }
  bool test(size_t, bool, void *request) override {
    int done = 0, bytes = 0;
    require(!api_->test(request, &done, &bytes), "test");
    return done != 0;
  }

private:
  std::unique_ptr<rt::dl::Library> library_;
  std::unique_ptr<net::nccl::test::Api> api_;
  std::vector<void *> comms_[2]; // that send, that receive
};

class SocketWire final : public Wire {
public:
  using Sockets = std::vector<net::Fd>;
  // Both ends of each channel and sender, which both processes have inherited.
  using Ends = std::vector<std::array<std::array<Sockets, 2>, 2>>;
  static Ends connect(const Options &options) {
    Ends ends(options.channels);
    for (std::array<std::array<Sockets, 2>, 2> &channel : ends)
      for (std::array<Sockets, 2> &sender : channel)
        sender = perf::connectedSockets(options.sockets);
    return ends;
  }

  SocketWire(const Options &options, Ends ends) {
    auto mine = static_cast<size_t>(rank);
    for (std::array<std::array<Sockets, 2>, 2> &channel : ends)
      for (size_t receives : {0u, 1u})
        schemes_[receives].push_back(std::make_unique<perf::SocketScheme>(
            receives, std::move(channel[receives ? 1 - mine : mine][receives]), options.threads));
  }
  void *post(size_t channel, bool receives, void *data, size_t bytes) override {
    return schemes_[receives ? 1 : 0][channel]->post(data, bytes);
  }
  bool test(size_t channel, bool receives, void *request) override {
    return schemes_[receives ? 1 : 0][channel]->test(
        *static_cast<perf::SocketScheme::Message *>(request));
  }

private:
  std::vector<std::unique_ptr<perf::SocketScheme>> schemes_[2]; // that send, that receive
};

//===-- the proxy ---------------------------------------------------------------------===//

// One direction of a channel: steps in a ring of buffers, moved like NCCL's proxy does.
class Lane {
public:
  Lane(Wire &wire, size_t channel, bool receives, const Options &options)
      : wire_(wire), channel_(channel), receives_(receives), chunk_(options.chunk),
        mbps_(options.laneMbps), ring_(new uint8_t[chunk_ * kSteps]()) {}

  void begin(size_t bytes) {
    startUs_ = nowUs();
    left_ = bytes;
    posted_ = done_ = 0;
    total_ = (bytes + chunk_ - 1) / chunk_;
  }
  // Returns true if all steps are done.
  bool progress() {
    if (posted_ < total_ && posted_ - done_ < kSteps && (receives_ || isFilled()))
      post();
    if (done_ < posted_ && wire_.test(channel_, receives_, requests_[done_ % kSteps])) {
      if (receives_)
        check();
      ++done_;
      ++messages_;
    }
    return done_ == total_;
  }
  uint64_t messages() const { return messages_; }

private:
  bool isFilled() const {
    auto bytes = static_cast<int64_t>(posted_ * chunk_ + std::min(left_, chunk_));
    return mbps_ <= 0 || nowUs() - startUs_ >= bytes / mbps_;
  }
  uint8_t *buffer(uint64_t step) const { return ring_.get() + step % kSteps * chunk_; }
  uint64_t word(uint64_t step) const { return ~((messages_ + step - done_) << 8 | channel_); }
  void post() {
    size_t bytes = std::min(left_, chunk_);
    if (!receives_)
      stamp(bytes);
    void *request = wire_.post(channel_, receives_, buffer(posted_), bytes);
    if (!request)
      return;
    bytes_[posted_ % kSteps] = bytes;
    requests_[posted_ % kSteps] = request;
    left_ -= bytes;
    ++posted_;
  }
  void stamp(size_t bytes) {
    uint64_t mark = word(posted_);
    std::memcpy(buffer(posted_), &mark, sizeof(mark));
    std::memcpy(buffer(posted_) + bytes - sizeof(mark), &mark, sizeof(mark));
  }
  void check() {
    uint64_t mark = word(done_);
    uint8_t *data = buffer(done_), *last = data + bytes_[done_ % kSteps] - sizeof(mark);
    require(!std::memcmp(data, &mark, sizeof(mark)) && !std::memcmp(last, &mark, sizeof(mark)),
            "wrong data");
  }

  Wire &wire_;
  const size_t channel_;
  const bool receives_;
  const size_t chunk_;
  const int64_t mbps_;
  int64_t startUs_ = 0;
  std::unique_ptr<uint8_t[]> ring_;
  size_t left_ = 0;
  uint64_t posted_ = 0, done_ = 0, total_ = 0, messages_ = 0;
  size_t bytes_[kSteps] = {};
  void *requests_[kSteps] = {};
};

class Proxy {
public:
  Proxy(Wire &wire, const Options &options) : options_(options) {
    for (size_t i = 0; i < options.channels; ++i) {
      lanes_[0].emplace_back(wire, i, false, options);
      lanes_[1].emplace_back(wire, i, true, options);
    }
  }

  void operate(const std::string &way, size_t bytes, int turn) {
    std::vector<Lane *> active;
    bool sends = way == "both" || (way == "one" ? 0 : turn % 2) == rank;
    bool receives = way == "both" || !sends;
    // Like in NCCL, a channel gets at least 64 KiB.
    size_t channels = std::clamp<size_t>(bytes / (64 << 10), 1, options_.channels);
    for (size_t i = 0; i < channels; ++i)
      for (size_t side : {0u, 1u})
        if (side ? receives : sends) {
          lanes_[side][i].begin(bytes / channels);
          active.push_back(&lanes_[side][i]);
        }
    for (int64_t end = nowUs() + kPatienceUs; !active.empty();) {
      active.erase(
          std::remove_if(active.begin(), active.end(), [](Lane *lane) { return lane->progress(); }),
          active.end());
      require(nowUs() < end, "a message does not come");
    }
    for (int64_t end = nowUs() + options_.gapUs; nowUs() < end;) {
    }
  }
  uint64_t messages() const {
    uint64_t sum = 0;
    for (const Lane &lane : lanes_[0])
      sum += lane.messages();
    return sum;
  }

private:
  const Options &options_;
  std::vector<Lane> lanes_[2]; // that send, that receive
};

//===-- measuring ---------------------------------------------------------------------===//

double secondsOf(const timeval &time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double run(Proxy &proxy, const std::string &way, size_t bytes, int iterations) {
  barrier();
  int64_t start = net::nowNs();
  for (int i = 0; i < iterations; ++i)
    proxy.operate(way, bytes, i);
  shared->us[rank] = static_cast<double>(net::nowNs() - start) * 1e-3 / iterations;
  barrier();
  return std::max(shared->us[0], shared->us[1]);
}

void measure(Proxy &proxy, const Options &options, const std::string &way, size_t bytes) {
  double us = run(proxy, way, bytes, 4);
  if (rank == 0)
    shared->iterations = std::clamp(static_cast<int>(options.ms * 1e3 / us), 4, 20'000);
  barrier();
  us = run(proxy, way, bytes, std::min(shared->iterations.load(), 50));
  rusage before, after;
  uint64_t messages = proxy.messages();
  getrusage(RUSAGE_SELF, &before);
  us = run(proxy, way, bytes, shared->iterations);
  getrusage(RUSAGE_SELF, &after);
  shared->used[rank] = after;
  messages = proxy.messages() - messages;
  auto sum = [](const rusage &used) {
    return std::make_pair(secondsOf(used.ru_utime) + secondsOf(used.ru_stime), used.ru_nvcsw);
  };
  if (rank == 1) {
    shared->used[1].ru_utime.tv_usec -= before.ru_utime.tv_usec;
    shared->used[1].ru_utime.tv_sec -= before.ru_utime.tv_sec;
    shared->used[1].ru_stime.tv_usec -= before.ru_stime.tv_usec;
    shared->used[1].ru_stime.tv_sec -= before.ru_stime.tv_sec;
    shared->used[1].ru_nvcsw -= before.ru_nvcsw;
  }
  barrier();
  if (rank == 1)
    return;
  // If both directions are measured, this process's messages are half of all.
  double all = static_cast<double>(messages) * (way == "one" ? 1 : 2);
  auto [seconds, switches] = sum(after);
  auto [seconds0, switches0] = sum(before);
  auto [seconds1, switches1] = sum(shared->used[1]);
  std::printf("{\"label\": \"%s\", \"way\": \"%s\", \"bytes\": %zu, \"us\": %.2f, \"gbs\": %.3f, "
              "\"switches\": %.2f, \"cpu_us\": %.2f, \"messages\": %.1f}\n",
              options.label.c_str(), way.c_str(), bytes, us, static_cast<double>(bytes) / us * 1e-3,
              static_cast<double>(switches - switches0 + switches1) / all,
              (seconds - seconds0 + seconds1) * 1e6 / all, all / shared->iterations);
}

std::vector<std::string> words(const std::string &text) {
  std::vector<std::string> list;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    list.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

void runRank(const Options &options, SocketWire::Ends ends) {
  std::unique_ptr<Wire> wire;
  if (options.wire == "plugin")
    wire = std::make_unique<PluginWire>(options);
  else
    wire = std::make_unique<SocketWire>(options, std::move(ends));
  Proxy proxy(*wire, options);
  for (const std::string &way : words(options.ways))
    for (size_t bytes : options.sizes)
      measure(proxy, options, way, bytes);
  barrier();
}

Options parse(int argc, char **argv) {
  Options options;
  std::map<std::string, std::string> given;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equals = std::min(argument.find('='), argument.size());
    given[argument.substr(0, equals)] = argument.substr(std::min(equals + 1, argument.size()));
  }
  auto text = [&](const char *name, std::string &value) {
    if (given.count(name))
      value = given[name];
  };
  auto number = [&](const char *name, auto &value) {
    if (given.count(name))
      value = static_cast<std::decay_t<decltype(value)>>(
          std::strtoll(given[name].c_str(), nullptr, 10));
  };
  text("--wire", options.wire);
  options.label = options.wire;
  text("--label", options.label);
  text("--ways", options.ways);
  number("--channels", options.channels);
  number("--chunk", options.chunk);
  number("--sockets", options.sockets);
  number("--threads", options.threads);
  number("--gap-us", options.gapUs);
  number("--lane-mbps", options.laneMbps);
  text("--plugin", options.plugin);
  number("--ms", options.ms);
  if (given.count("--sizes")) {
    options.sizes.clear();
    for (const std::string &word : words(given["--sizes"]))
      options.sizes.push_back(static_cast<size_t>(std::strtoull(word.c_str(), nullptr, 10)));
  }
  require(options.channels >= 1 && options.channels <= 64 && options.chunk >= 16 &&
              options.threads >= 1 && options.sockets >= 1,
          "--channels 1 to 64, --chunk 16 at least, --sockets and --threads 1 at least");
  return options;
}

} // namespace

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Options options = parse(argc, argv);
  shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  SocketWire::Ends ends;
  if (options.wire == "socket")
    ends = SocketWire::connect(options);
  pid_t child = fork();
  if (child == 0) {
    rank = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    runRank(options, std::move(ends));
    std::_Exit(0);
  }
  runRank(options, std::move(ends));
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
