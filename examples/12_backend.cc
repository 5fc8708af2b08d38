// A backend of your own: collectives between the ranks of one process, under one lock.
//
//   cmake -S examples/own -B own -DCMAKE_PREFIX_PATH=/opt/coll && cmake --build own
//   coll-run step.mlir --ranks=4 --backend=plugin:own/libmeeting.so --check
//
// A call is a meeting: the last member that comes does the work of all, and wakes them. Transfers
// meet in pairs. It is written to be short, not fast; <coll/backend_plugin.h> says what each
// function has to do.

#include <coll/backend_plugin.h>
#include <coll/coll.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using Bytes = std::vector<char>;

int32_t fail(coll_backend_failure *failure, int32_t code, const std::string &why) {
  std::snprintf(failure->message, sizeof(failure->message), "%s", why.c_str());
  return code;
}

struct Group;

struct Request {
  coll_backend_call call;
  Group *group;
  int position;      // in the group
  size_t number = 0; // of the meeting; transfers have none
  bool isDone = false;
  bool isWrong = false; // differs from its peers' calls
};

struct Group {
  struct Job *job;
  std::vector<int32_t> ranks;
  std::vector<size_t> numCalls;                      // by position: the next one's number
  std::map<size_t, std::vector<Request *>> meetings; // by number: who has come
  std::list<Request *> transfers;                    // that wait for their other end
};

struct Job {
  std::mutex mutex; // protects all that follows, groups and requests included
  std::condition_variable changed;
  std::chrono::microseconds timeout;
  std::vector<bool> isPresent; // by rank
  std::map<std::vector<int32_t>, Group> groups;
  int32_t code = COLL_OK; // of the first failure
  std::string cause;

  void endLocked(int32_t why, const std::string &text) {
    if (code == COLL_OK) {
      code = why;
      cause = text;
    }
    changed.notify_all();
  }
};

struct Endpoint {
  Job *job;
  int32_t rank;
  std::list<std::unique_ptr<Request>> inFlight;
};

struct Membership {
  Endpoint *endpoint;
  Group *group;
  int position;
};

// ------------------------------------------------------------------ the work of a meeting

// Integers wrap around.
template <typename T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <typename T>
void combine(int32_t reduction, const Bytes &from, Bytes &to) {
  const T *x = reinterpret_cast<const T *>(from.data());
  T *sum = reinterpret_cast<T *>(to.data());
  for (size_t i = 0; i < to.size() / sizeof(T); ++i)
    sum[i] = reduction == COLL_SUM   ? add(sum[i], x[i])
             : reduction == COLL_MAX ? (x[i] > sum[i] || x[i] != x[i] ? x[i] : sum[i])
                                     : (x[i] < sum[i] || x[i] != x[i] ? x[i] : sum[i]);
}

// All sources combined in the order of the ranks.
Bytes combineAll(const coll_backend_call &call, const std::vector<Bytes> &sources) {
  Bytes result = sources[0];
  for (size_t i = 1; i < sources.size(); ++i) {
    if (call.dtype == COLL_F32)
      combine<float>(call.reduction, sources[i], result);
    else if (call.dtype == COLL_F64)
      combine<double>(call.reduction, sources[i], result);
    else if (call.dtype == COLL_I32)
      combine<int32_t>(call.reduction, sources[i], result);
    else
      combine<int64_t>(call.reduction, sources[i], result);
  }
  return result;
}

// Elements of a member's source.
size_t sourceSize(const coll_backend_call &call, size_t n) {
  const bool hasBlocks = call.kind == COLL_CALL_SCATTER || call.kind == COLL_CALL_REDUCE_SCATTER ||
                         call.kind == COLL_CALL_ALL_TO_ALL;
  return size_t(call.outer * call.count) * (hasBlocks ? n : 1);
}

// The blocks [outer][count] of `whole`, [outer][n][count], that are position i's.
Bytes blockOf(const Bytes &whole, size_t outer, size_t n, size_t row, size_t i) {
  Bytes block;
  for (size_t o = 0; o < outer; ++o) {
    const char *at = whole.data() + (o * n + i) * row;
    block.insert(block.end(), at, at + row);
  }
  return block;
}

// [outer][n][row] of the blocks [outer][row].
Bytes interleave(const std::vector<Bytes> &blocks, size_t outer, size_t row) {
  Bytes whole;
  for (size_t o = 0; o < outer; ++o)
    for (const Bytes &block : blocks)
      whole.insert(whole.end(), block.begin() + o * row, block.begin() + (o + 1) * row);
  return whole;
}

// The result of the member at `position`.
Bytes resultOf(const coll_backend_call &call, const std::vector<Bytes> &sources, size_t position) {
  const size_t n = sources.size(), size = coll_dtype_size(call.dtype);
  const size_t outer = size_t(call.outer), row = size_t(call.count) * size;
  switch (call.kind) {
  case COLL_CALL_ALL_REDUCE:
    return combineAll(call, sources);
  case COLL_CALL_REDUCE:
    return position == size_t(call.root) ? combineAll(call, sources) : sources[position];
  case COLL_CALL_BROADCAST:
    return sources[size_t(call.root)];
  case COLL_CALL_ALL_GATHER:
    return interleave(sources, outer, row);
  case COLL_CALL_GATHER:
    return position == size_t(call.root) ? interleave(sources, outer, row) : Bytes(outer * n * row);
  case COLL_CALL_SCATTER:
    return blockOf(sources[size_t(call.root)], outer, n, row, position);
  case COLL_CALL_REDUCE_SCATTER:
    return blockOf(combineAll(call, sources), outer, n, row, position);
  case COLL_CALL_ALL_TO_ALL: {
    std::vector<Bytes> blocks;
    for (const Bytes &source : sources)
      blocks.push_back(blockOf(source, outer, n, row, position));
    return interleave(blocks, size_t(call.dst_outer), size_t(call.dst_count) * size);
  }
  case COLL_CALL_PERMUTE:
    for (int32_t p = 0; p < call.num_pairs; ++p)
      if (size_t(call.pairs[2 * p + 1]) == position)
        return sources[size_t(call.pairs[2 * p])];
    return Bytes(row);
  default: // init, barrier
    return {};
  }
}

void work(const std::vector<Request *> &members) {
  std::vector<Bytes> sources; // copies, as a destination may be a source
  for (const Request *member : members) {
    const coll_backend_call &call = member->call;
    const char *from = static_cast<const char *>(call.src);
    const size_t bytes = sourceSize(call, members.size()) * coll_dtype_size(call.dtype);
    sources.push_back(from ? Bytes(from, from + bytes) : Bytes());
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const Bytes result = resultOf(members[i]->call, sources, i);
    if (members[i]->call.dst && !result.empty())
      std::memcpy(members[i]->call.dst, result.data(), result.size());
    members[i]->isDone = true;
  }
}

bool isSame(const coll_backend_call &a, const coll_backend_call &b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.reduction == b.reduction && a.root == b.root &&
         a.widens == b.widens && a.rank_order == b.rank_order && a.outer == b.outer &&
         a.count == b.count && a.dst_outer == b.dst_outer && a.num_pairs == b.num_pairs &&
         std::equal(a.pairs, a.pairs + 2 * a.num_pairs, b.pairs);
}

void meetLocked(Job &job, Request *request) {
  Group &group = *request->group;
  request->number = group.numCalls[size_t(request->position)]++;
  std::vector<Request *> &members = group.meetings[request->number];
  members.resize(group.ranks.size());
  members[size_t(request->position)] = request;
  if (std::count(members.begin(), members.end(), nullptr) > 0)
    return;
  for (const Request *member : members)
    if (!isSame(member->call, members[0]->call)) {
      for (Request *each : members)
        each->isWrong = true;
      return job.endLocked(COLL_MISMATCH,
                           std::string("the members' calls differ at ") + member->call.location);
    }
  work(members);
  group.meetings.erase(request->number);
  job.changed.notify_all();
}

bool matches(const Request &a, const Request &b) {
  return a.call.kind != b.call.kind && a.call.tag == b.call.tag && a.call.peer == b.position &&
         b.call.peer == a.position;
}

void transferLocked(Job &job, Request *request) {
  std::list<Request *> &waiting = request->group->transfers;
  const auto other = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const Request *each) { return matches(*each, *request); });
  if (other == waiting.end())
    return waiting.push_back(request);
  Request *sends = request->call.kind == COLL_CALL_SEND ? request : *other;
  Request *receives = sends == request ? *other : request;
  if (sends->call.count != receives->call.count || sends->call.dtype != receives->call.dtype) {
    sends->isWrong = receives->isWrong = true;
    return job.endLocked(COLL_MISMATCH, std::string("a send and its receive differ at ") +
                                            receives->call.location);
  }
  if (sends->call.count > 0)
    std::memcpy(receives->call.dst, sends->call.src,
                size_t(sends->call.count) * coll_dtype_size(sends->call.dtype));
  sends->isDone = receives->isDone = true;
  waiting.erase(other);
  job.changed.notify_all();
}

// ------------------------------------------------------------------ the table

int32_t create(const coll_backend_job *options, void **backend, coll_backend_failure *failure) {
  if (options->world_size > 0)
    return fail(failure, COLL_UNSUPPORTED, "its ranks are in one process");
  auto job = std::make_unique<Job>();
  job->timeout = std::chrono::microseconds(options->timeout_us);
  job->isPresent.resize(size_t(options->num_ranks));
  *backend = job.release();
  return COLL_OK;
}

void destroy(void *backend) { delete static_cast<Job *>(backend); }

int32_t supports(void *, const coll_backend_call *call, coll_backend_failure *failure) {
  const bool reduces = call->kind == COLL_CALL_ALL_REDUCE || call->kind == COLL_CALL_REDUCE ||
                       call->kind == COLL_CALL_REDUCE_SCATTER;
  const bool isKnown =
      (call->dtype == COLL_F32 || call->dtype == COLL_F64 || call->dtype == COLL_I32 ||
       call->dtype == COLL_I64) &&
      (call->reduction == COLL_SUM || call->reduction == COLL_MIN || call->reduction == COLL_MAX);
  return !reduces || isKnown
             ? COLL_OK
             : fail(failure, COLL_UNSUPPORTED, "it has sum, min and max of f32, f64, i32 and i64");
}

int32_t join(void *backend, int32_t rank, void **endpoint, coll_backend_failure *) {
  *endpoint = new Endpoint{static_cast<Job *>(backend), rank, {}};
  return COLL_OK;
}

void quit(void *endpoint) { delete static_cast<Endpoint *>(endpoint); }

void enter(void *endpoint) {
  auto *self = static_cast<Endpoint *>(endpoint);
  std::lock_guard lock(self->job->mutex);
  self->job->isPresent[size_t(self->rank)] = true;
}

void leave(void *endpoint) {
  auto *self = static_cast<Endpoint *>(endpoint);
  std::lock_guard lock(self->job->mutex);
  for (const std::unique_ptr<Request> &request : self->inFlight)
    if (!request->isDone)
      self->job->endLocked(COLL_PEER, "rank " + std::to_string(self->rank) + " has ended");
  self->inFlight.clear();
  self->job->isPresent[size_t(self->rank)] = false;
  self->job->changed.notify_all();
}

void endJob(void *endpoint, int32_t code, const char *cause) {
  Job &job = *static_cast<Endpoint *>(endpoint)->job;
  std::lock_guard lock(job.mutex);
  job.endLocked(code, cause);
}

int32_t health(void *endpoint, coll_backend_failure *failure) {
  Job &job = *static_cast<Endpoint *>(endpoint)->job;
  std::lock_guard lock(job.mutex);
  return job.code == COLL_OK ? COLL_OK : fail(failure, COLL_ABORTED, job.cause);
}

int32_t openGroup(void *endpoint, const int32_t *ranks, int32_t n, int32_t position, void **group,
                  coll_backend_failure *) {
  auto *self = static_cast<Endpoint *>(endpoint);
  const std::vector<int32_t> members(ranks, ranks + n);
  std::lock_guard lock(self->job->mutex);
  Group &found = self->job->groups[members]; // one for all members
  found.job = self->job;
  found.ranks = members;
  found.numCalls.resize(members.size());
  *group = new Membership{self, &found, position};
  return COLL_OK;
}

void closeGroup(void *group) { delete static_cast<Membership *>(group); }

int32_t start(void *group, const coll_backend_call *call, void **request,
              coll_backend_failure *failure) {
  auto *self = static_cast<Membership *>(group);
  Job &job = *self->endpoint->job;
  std::lock_guard lock(job.mutex);
  if (job.code != COLL_OK)
    return fail(failure, COLL_ABORTED, job.cause);
  auto made = std::make_unique<Request>(Request{*call, self->group, self->position});
  *request = made.get();
  self->endpoint->inFlight.push_back(std::move(made));
  auto *own = static_cast<Request *>(*request);
  if (call->kind == COLL_CALL_SEND || call->kind == COLL_CALL_RECV)
    transferLocked(job, own);
  else
    meetLocked(job, own);
  return COLL_OK;
}

// A rank that the request waits for and that has left; -1: none.
int missingLocked(const Job &job, const Request &request) {
  const Group &group = *request.group;
  const bool isTransfer =
      request.call.kind == COLL_CALL_SEND || request.call.kind == COLL_CALL_RECV;
  for (size_t i = 0; i < group.ranks.size(); ++i) {
    const bool isAwaited =
        isTransfer ? int32_t(i) == request.call.peer : group.numCalls[i] <= request.number;
    if (isAwaited && !job.isPresent[size_t(group.ranks[i])])
      return group.ranks[i];
  }
  return -1;
}

int32_t wait(void *endpoint, void *request, coll_backend_failure *failure) {
  auto *self = static_cast<Endpoint *>(endpoint);
  auto *own = static_cast<Request *>(request);
  Job &job = *self->job;
  std::unique_lock lock(job.mutex);
  const bool isOver = job.changed.wait_for(lock, job.timeout, [&] {
    return own->isDone || job.code != COLL_OK || missingLocked(job, *own) >= 0;
  });
  int32_t code = COLL_OK;
  if (!own->isDone && job.code != COLL_OK) {
    code = fail(failure, own->isWrong ? COLL_MISMATCH : COLL_ABORTED, job.cause);
  } else if (!own->isDone) {
    const std::string where = std::string(" at ") + own->call.location;
    code = !isOver
               ? fail(failure, COLL_TIMEOUT, "the other members did not come in time" + where)
               : fail(failure, COLL_PEER,
                      "rank " + std::to_string(missingLocked(job, *own)) + " has ended" + where);
    job.endLocked(code, failure->message);
  }
  self->inFlight.remove_if([&](const auto &each) { return each.get() == own; });
  return code;
}

int32_t test(void *endpoint, void *request) {
  Job &job = *static_cast<Endpoint *>(endpoint)->job;
  const auto *own = static_cast<const Request *>(request);
  std::lock_guard lock(job.mutex);
  return own->isDone || job.code != COLL_OK || missingLocked(job, *own) >= 0;
}

const coll_backend_functions kFunctions = {sizeof(kFunctions),
                                           "meeting",
                                           create,
                                           destroy,
                                           supports,
                                           join,
                                           quit,
                                           enter,
                                           leave,
                                           endJob,
                                           health,
                                           openGroup,
                                           closeGroup,
                                           start,
                                           wait,
                                           test};

} // namespace

const coll_backend_functions *coll_backend_plugin(uint32_t abi) {
  return abi == COLL_BACKEND_ABI ? &kFunctions : nullptr;
}
