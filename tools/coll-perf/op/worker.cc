#include "tools/coll-perf/op/worker.h"

#include "runtime/dl/cuda.h"
#include "runtime/step/crew.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace coll::perf {

Status LineSocket::send(const std::string &line) {
  std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    ssize_t count = ::send(fd_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return {kCollPeer, "its process is gone"};
    sent += static_cast<size_t>(count);
  }
  return {};
}

Result<std::string> LineSocket::receive(int64_t timeoutUs) {
  int64_t deadline = net::nowUs() + timeoutUs;
  while (true) {
    if (size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    int64_t left = timeoutUs < 0 ? -1 : std::max<int64_t>(0, deadline - net::nowUs()) / 1000;
    pollfd waited = {fd_.get(), POLLIN, 0};
    int ready = ::poll(&waited, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      return Status(kCollTimeout, "its process does not answer");
    char bytes[4096];
    ssize_t count = ::recv(fd_.get(), bytes, sizeof(bytes), 0);
    if (count <= 0)
      return Status(kCollPeer, "its process is gone");
    buffer_.append(bytes, static_cast<size_t>(count));
  }
}

namespace {

using Json = nlohmann::json;

// A message may contain bytes from the user that are not valid UTF-8.
std::string textOf(const Json &json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json errorOf(const Status &status) {
  return {{"error", status.message()}, {"code", static_cast<int>(status.code())}};
}

// The ranks of this process.
class Crew {
public:
  Crew(const OpPlan &plan, const Side &side) : plan_(plan), side_(side) {}
  ~Crew() {
    members_.clear();
    for (const std::unique_ptr<rt::Endpoint> &endpoint : endpoints_)
      endpoint->leave();
  }

  Status open(const std::optional<rt::JobOptions> &job);
  Json perform(const Task &task, const Progress &progress);

private:
  // Runs `body(i)` for all local ranks at once; returns the first failure.
  template <typename Body>
  Status onAll(Body &&body);

  const OpPlan &plan_;
  const Side &side_;
  std::unique_ptr<rt::Backend> backend_;
  std::vector<int> ranks_;
  std::vector<std::unique_ptr<rt::Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Member>> members_;
};

template <typename Body>
Status Crew::onAll(Body &&body) {
  std::vector<Status> outcomes(ranks_.size());
  if (ranks_.size() == 1)
    return body(0);
  Result<std::unique_ptr<rt::Crew>> threads = rt::Crew::create(static_cast<int>(ranks_.size()));
  if (!threads)
    return threads.status();
  (*threads)->run([&](int i) { outcomes[static_cast<size_t>(i)] = body(static_cast<size_t>(i)); });
  // A failure that was caused by another rank is used only if there is no other.
  Status first;
  for (const Status &outcome : outcomes)
    if (!outcome.ok() && (first.ok() || first.code() == kCollAborted))
      first = outcome;
  return first;
}

Status Crew::open(const std::optional<rt::JobOptions> &job) {
  rt::BackendOptions options;
  options.numRanks = plan_.ranks;
  options.timeoutUs = plan_.timeoutUs;
  options.job = job;
  // In the form for Buffers.
  int gpus = 0;
  Result<const rt::dl::Cuda *> cuda = rt::dl::cuda();
  if (job && cuda && (*cuda)->deviceGetCount(&gpus) == rt::dl::kCudaSuccess && gpus > 0)
    options.job->gpu = job->rank % gpus;
  Result<std::unique_ptr<rt::Backend>> backend = rt::createBackend(side_.backend, options);
  if (!backend)
    return backend.status();
  backend_ = backend.take();
  rt::Call asked = Reference(plan_, 1).call();
  if (plan_.op == "root_update" && side_.backend == "nccl") {
    asked.kind = rt::OpKind::AllReduce; // followed by the optimizer
    asked.reduction = kCollAvg;
  }
  if (plan_.op != "send_recv")
    COLL_RETURN_IF_ERROR(backend_->supports(asked));
  ranks_ = backend_->localRanks();
  for (int rank : ranks_) {
    Result<std::unique_ptr<rt::Endpoint>> endpoint = backend_->endpoint(rank);
    if (!endpoint)
      return endpoint.status();
    endpoints_.push_back(endpoint.take());
    endpoints_.back()->enter();
  }
  members_.resize(ranks_.size());
  return onAll([&](size_t i) {
    Result<std::unique_ptr<Member>> made = Member::create(plan_, side_, *endpoints_[i], ranks_[i]);
    if (!made) {
      endpoints_[i]->abort(made.status());
      return made.status().annotate("rank " + std::to_string(ranks_[i]));
    }
    members_[i] = made.take();
    return Status();
  });
}

// Reports only the first rank's progress, because no rank gets far ahead of the others.
Json Crew::perform(const Task &task, const Progress &progress) {
  std::vector<Seen> seen(ranks_.size());
  Status outcome = onAll([&](size_t i) {
    Result<Seen> result = members_[i]->measure(task, i ? [](const char *) {} : progress);
    if (result)
      seen[i] = *result;
    else if (result.status().code() != kCollUnsupported)
      endpoints_[i]->abort(result.status());
    return result ? Status() : result.status();
  });
  if (!outcome.ok())
    return errorOf(outcome);
  Json answer = {{"ranks", Json::array()}};
  for (size_t i = 0; i < ranks_.size(); ++i)
    answer["ranks"].push_back({{"rank", ranks_[i]}, {"us", seen[i].us}, {"wrong", seen[i].wrong}});
  return answer;
}

// Tells the driver of each new stage, and once a second that a stage goes on.
class Teller {
public:
  explicit Teller(LineSocket &driver) : driver_(driver) {}
  void operator()(const char *stage) {
    const int64_t now = net::nowUs();
    if (stage == stage_ && now < nextUs_)
      return;
    stage_ = stage;
    nextUs_ = now + kTellUs;
    (void)driver_.send(textOf({{"at", stage}})); // a lost driver is noticed at the answer
  }

private:
  static constexpr int64_t kTellUs = 1'000'000;
  LineSocket &driver_;
  const char *stage_ = nullptr;
  int64_t nextUs_ = 0;
};

} // namespace

int runWorker(const OpPlan &plan, const Side &side, const std::optional<rt::JobOptions> &job,
              LineSocket &driver) {
  // Ranks that share a GPU: see the README of backend direct.
  if (!side.processes && side.backend == "direct") {
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
    ::setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
  }
  Crew crew(plan, side);
  Status opened = crew.open(job);
  Status sent = driver.send(opened.ok() ? "{}" : textOf(errorOf(opened)));
  if (!opened.ok() || !sent.ok())
    return 1;
  while (true) {
    Result<std::string> line = driver.receive(/*timeoutUs=*/-1);
    if (!line)
      return 0; // the driver has closed its end
    Json order = Json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (order.is_discarded())
      return 1;
    Task task;
    task.bytes = order.value("bytes", uint64_t(0));
    task.place = order.value("in_place", false) ? Placement::In : Placement::Out;
    task.timing = static_cast<Timing>(order.value("timing", 0));
    if (!driver.send(textOf(crew.perform(task, Teller(driver)))).ok())
      return 0;
  }
}

} // namespace coll::perf
