#include "runtime/step/tokens/calls.h"

#include "runtime/base/dtype.h"
#include "runtime/step/abi/call_trace.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace coll::rt {

namespace {

constexpr int64_t kGreetingWords = sizeof(Greeting) / sizeof(int64_t);

// A field that is equal on all members.
struct Agreement {
  int64_t Greeting::*field;
  const char *what;
};
constexpr Agreement kAgreements[] = {
    {&Greeting::combines, "combine (1) or dispatch (0)"},
    {&Greeting::dtype, "element type"},
    {&Greeting::hidden, "elements of a row"},
    {&Greeting::topk, "experts of a token"},
    {&Greeting::localExperts, "experts of a rank"},
    {&Greeting::numScales, "scales of a token"},
};

constexpr size_t at(int64_t index) { return static_cast<size_t>(index); }

// Requests that are always waited for, because they use the memory of the messages.
class InFlight {
public:
  InFlight(const TokenPlace &place, size_t capacity) : place_(place) {
    requests_.reserve(capacity);
  }
  ~InFlight() { (void)wait(); }

  void add(Request *request, const Call &call) { requests_.emplace_back(request, call); }
  // The first failure.
  Status wait() {
    Status first;
    for (const auto &[request, call] : requests_) {
      Status status = place_.endpoint.wait(request);
      traceEnd(call, place_.group, !status.ok());
      if (first.ok())
        first = std::move(status);
    }
    requests_.clear();
    return first;
  }

private:
  const TokenPlace &place_;
  std::vector<std::pair<Request *, Call>> requests_;
};

} // namespace

Greeting greetingOf(const TokenDispatch &dispatch, int32_t serial) {
  Greeting greeting;
  greeting.dtype = dispatch.dtype;
  greeting.hidden = dispatch.hidden;
  greeting.topk = dispatch.shape.topk;
  greeting.localExperts = dispatch.localExperts;
  greeting.numScales = dispatch.numScales;
  greeting.serial = serial;
  greeting.tokens = dispatch.shape.tokens;
  greeting.capacity = dispatch.shape.capacity;
  return greeting;
}

Greeting greetingOf(const TokenCombine &combine, int32_t serial) {
  Greeting greeting;
  greeting.combines = 1;
  greeting.dtype = combine.dtype;
  greeting.hidden = combine.hidden;
  greeting.topk = combine.shape.topk;
  greeting.serial = serial;
  greeting.tokens = combine.shape.tokens;
  greeting.capacity = combine.shape.capacity;
  return greeting;
}

Greetings::Greetings(const std::vector<int> &ranks, std::vector<int64_t> words)
    : ranks_(ranks), n_(static_cast<int64_t>(ranks.size())), words_(std::move(words)),
      greetings_(ranks.size()) {
  static_assert(std::is_trivially_copyable_v<Greeting>);
  for (int64_t p = 0; p < n_; ++p)
    std::memcpy(static_cast<void *>(&greetings_[at(p)]), &words_[at(p * (kGreetingWords + n_))],
                sizeof(Greeting));
}

int64_t Greetings::rows(int64_t from, int64_t to) const {
  return words_[at(from * (kGreetingWords + n_) + kGreetingWords + to)];
}

std::string Greetings::rankAt(int64_t position) const {
  return "rank " + std::to_string(ranks_[at(position)]);
}

Status Greetings::checkNumbers(int64_t position) const {
  const Greeting &greeting = of(position);
  bool isGood = greeting.tokens >= 0 && greeting.tokens < kMaxTokens && greeting.capacity >= 0 &&
                greeting.capacity < kMaxTokens && greeting.serial >= 0 &&
                greeting.serial <= INT32_MAX;
  for (int64_t to = 0; to < n_; ++to) {
    const int64_t most = greeting.combines ? greeting.capacity : greeting.tokens;
    isGood = isGood && rows(position, to) >= 0 && rows(position, to) <= most;
  }
  return isGood ? Status::okay()
                : Status::internal(rankAt(position) + " sent counts that are impossible");
}

Status Greetings::check() const {
  for (int64_t p = 0; p < n_; ++p) {
    for (const Agreement &agreement : kAgreements) {
      const int64_t first = of(0).*agreement.field, other = of(p).*agreement.field;
      if (first != other)
        return {kCollMismatch, std::string(agreement.what) + ": " + std::to_string(first) + " on " +
                                   rankAt(0) + ", " + std::to_string(other) + " on " + rankAt(p)};
    }
    COLL_RETURN_IF_ERROR(checkNumbers(p));
  }
  return {};
}

Status Greetings::checkTokens() const {
  for (int64_t p = 0; p < n_; ++p) {
    const BadExpert &bad = of(p).bad;
    if (bad.token >= 0)
      return Status::invalid(
          "token " + std::to_string(bad.token) + " of " + rankAt(p) + " names expert " +
          std::to_string(bad.expert) +
          (bad.isTwice ? " twice" : ", but there are " + std::to_string(n_ * of(p).localExperts)));
  }
  for (int64_t to = 0; to < n_; ++to) {
    int64_t sum = 0;
    for (int64_t from = 0; from < n_; ++from)
      sum += rows(from, to);
    if (sum > of(to).capacity)
      return Status::invalid(std::to_string(sum) + " tokens come to " + rankAt(to) +
                             ", which has a capacity of " + std::to_string(of(to).capacity));
  }
  return {};
}

TokenCalls::TokenCalls(const TokenPlace &place)
    : place_(place), n_(static_cast<int64_t>(place.communicator.ranks().size())),
      me_(place.communicator.position()) {}

std::string TokenCalls::rankAt(int64_t position) const {
  return "rank " + std::to_string(place_.communicator.ranks()[at(position)]);
}

Status TokenCalls::checkMemory(const void *data) const {
  if (!data || place_.endpoint.gpuOf(data) < 0)
    return {};
  return {kCollUnsupported, "its buffers are GPU memory; it takes host memory"};
}

Result<Greetings> TokenCalls::greet(const Greeting &greeting, const std::vector<int64_t> &rows) {
  std::vector<int64_t> mine(at(kGreetingWords + n_));
  std::memcpy(mine.data(), &greeting, sizeof(greeting));
  std::copy(rows.begin(), rows.end(), mine.begin() + kGreetingWords);
  Result<std::vector<int64_t>> all = gather(mine);
  if (!all)
    return all.status();
  Greetings greetings(place_.communicator.ranks(), all.take());
  COLL_RETURN_IF_ERROR(greetings.check());
  return greetings;
}

Result<std::vector<int64_t>> TokenCalls::gather(const std::vector<int64_t> &mine) {
  const auto words = static_cast<int64_t>(mine.size());
  std::vector<int64_t> all(at(n_ * words));
  Call call;
  call.kind = OpKind::AllGather;
  call.dtype = kCollI64;
  call.src = mine.data();
  call.dst = all.data();
  call.count = words;
  call.site = place_.site;
  call.site.trace = 0; // the exchange has the span
  traceBegin(call, place_.group, place_.site.trace, words * dtypeSize(call.dtype));
  Status status = place_.communicator.run(call);
  traceEnd(call, place_.group, !status.ok());
  COLL_RETURN_IF_ERROR(status);
  return all;
}

Call TokenCalls::callOf(OpKind kind, const TokenTransfer &transfer) const {
  Call call;
  call.kind = kind;
  call.dtype = kCollI8;
  call.src = transfer.src;
  call.dst = transfer.dst;
  call.count = transfer.bytes;
  call.peer = static_cast<int32_t>(transfer.peer);
  call.tag = transfer.tag;
  call.site = place_.site;
  call.site.trace = 0; // the exchange has the span
  return call;
}

Status TokenCalls::move(const std::vector<TokenTransfer> &in,
                        const std::vector<TokenTransfer> &out) {
  InFlight inFlight(place_, in.size() + out.size());
  Status status;
  for (size_t i = 0; i < in.size() + out.size() && status.ok(); ++i) {
    const bool receives = i < in.size();
    const TokenTransfer &transfer = receives ? in[i] : out[i - in.size()];
    if (transfer.bytes == 0)
      continue;
    Call call = callOf(receives ? OpKind::Recv : OpKind::Send, transfer);
    traceBegin(call, place_.group, place_.site.trace, receives ? 0 : transfer.bytes);
    Result<Request *> request = place_.communicator.start(call);
    if (request) {
      traceIssued(call, place_.group);
      inFlight.add(*request, call);
    } else {
      traceEnd(call, place_.group, /*failed=*/true);
      status = request.status();
    }
  }
  // Otherwise requests in flight would wait for peers that wait for this rank.
  if (!status.ok())
    place_.endpoint.abort(status);
  Status waited = inFlight.wait();
  return status.ok() ? waited : status;
}

} // namespace coll::rt
