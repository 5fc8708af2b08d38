#include "tools/coll-perf/op/member.h"

#include "runtime/base/dtype.h"
#include "tools/coll-perf/units.h"

#include <chrono>
#include <cstring>
#include <numeric>

namespace coll::perf {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

} // namespace

Result<std::unique_ptr<Member>> Member::create(const OpPlan &plan, const Side &side,
                                               rt::Endpoint &endpoint, int rank) {
  std::unique_ptr<Member> member(new Member(plan, side, endpoint, rank));
  std::vector<int> ranks(static_cast<size_t>(plan.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  Result<std::unique_ptr<rt::Communicator>> group = endpoint.communicator(ranks);
  if (!group)
    return group.status();
  member->group_ = group.take();
  rt::Call init;
  init.kind = rt::OpKind::Init;
  COLL_RETURN_IF_ERROR(member->group_->run(init));
  Result<std::unique_ptr<Buffers>> buffers = Buffers::create(plan, side, rank, *member->group_);
  if (!buffers)
    return buffers.status();
  member->buffers_ = buffers.take();
  // Backend net works from the host on GPU buffers, too.
  member->streams_ = side.memory == MemoryKind::Gpu && side.backend != "net";
  return member;
}

Status Member::meet() { return group_->run(rt::Call()); }

Status Member::synchronize() {
  return streams_ ? endpoint_.synchronize(buffers_->stream()) : Status();
}

Status Member::once(const Reference &reference, Placement place, bool streamed) {
  if (step_)
    return step(place, streamed);
  rt::Call call = reference.call();
  call.src = buffers_->src();
  call.dst = buffers_->dst(place);
  if (streamed)
    call.stream = buffers_->stream();
  return plan_.op == "send_recv" ? sendRecv(call) : group_->run(call);
}

// The optimizer's kernels always run on the stream, so this waits for them unless `streamed`.
Status Member::step(Placement place, bool streamed) {
  COLL_RETURN_IF_ERROR(step_->run(buffers_->src(), buffers_->dst(place), buffers_->stream()));
  return streamed ? Status() : synchronize();
}

// Sends to the next rank, receives from the previous one.
Status Member::sendRecv(const rt::Call &call) {
  rt::Call send = call, recv = call;
  send.kind = rt::OpKind::Send;
  send.peer = (rank_ + 1) % plan_.ranks;
  send.dst = nullptr;
  recv.kind = rt::OpKind::Recv;
  recv.peer = (rank_ + plan_.ranks - 1) % plan_.ranks;
  recv.src = nullptr;
  Result<rt::Request *> received = group_->start(recv);
  if (!received)
    return received.status();
  COLL_RETURN_IF_ERROR(group_->run(send));
  return endpoint_.wait(*received);
}

Status Member::check(const Reference &reference, Placement place, const Progress &progress,
                     Seen &seen) {
  const char *stage = "check";
  const int64_t size = rt::dtypeSize(plan_.dtype);
  const Extent extent = reference.extent(rank_);
  COLL_RETURN_IF_ERROR(buffers_->write(buffers_->src(), extent.src * size,
                                       [&](int64_t at, int64_t bytes, void *memory) {
                                         progress(stage);
                                         pattern_.fill(at / size, bytes / size, memory);
                                       }));
  if (step_)
    COLL_RETURN_IF_ERROR(buffers_->write(buffers_->dst(place), extent.dst * size,
                                         [&](int64_t at, int64_t bytes, void *memory) {
                                           progress(stage);
                                           pattern_.fillParameters(at / size, bytes / size, memory);
                                         }));
  progress(stage);
  COLL_RETURN_IF_ERROR(meet()); // all ranks have written theirs before others write into them
  COLL_RETURN_IF_ERROR(once(reference, place, streams_));
  COLL_RETURN_IF_ERROR(synchronize());
  if (!plan_.check)
    return {};
  seen.wrong = 0;
  return compare(reference, place, progress, seen);
}

Status Member::compare(const Reference &reference, Placement place, const Progress &progress,
                       Seen &seen) {
  const int64_t size = rt::dtypeSize(plan_.dtype);
  return buffers_->read(buffers_->dst(place), reference.extent(rank_).dst * size,
                        [&](int64_t at, int64_t bytes, void *memory) {
                          progress("check");
                          seen.wrong += pattern_.wrong(reference, at / size, bytes / size, memory);
                        });
}

// Overwrites the result, so that a graph that writes nothing is detected.
Status Member::spoil(const Reference &reference, Placement place, const Progress &progress) {
  return buffers_->write(buffers_->dst(place),
                         reference.extent(rank_).dst * rt::dtypeSize(plan_.dtype),
                         [&](int64_t, int64_t bytes, void *memory) {
                           progress("check");
                           std::memset(memory, 0xA5, static_cast<size_t>(bytes));
                         });
}

Result<Seen> Member::measure(const Task &task, const Progress &progress) {
  if (task.timing == Timing::Graph && !streams_)
    return Status(kCollUnsupported, "graphs need GPU buffers on streams");
  Reference reference(plan_, countOf(plan_, task.bytes));
  Seen seen;
  if (plan_.op == "root_update") {
    Result<std::unique_ptr<OptimizerStep>> made =
        OptimizerStep::create(plan_, side_, endpoint_, *group_, buffers_->gpu(), reference.count());
    if (!made)
      return made.status();
    step_ = made.take();
  }
  COLL_RETURN_IF_ERROR(check(reference, task.place, progress, seen));
  // In place, and in training, a replay starts from the result of the previous one.
  const bool compares =
      plan_.check && task.timing == Timing::Graph && task.place == Placement::Out && !step_;
  if (compares)
    COLL_RETURN_IF_ERROR(spoil(reference, task.place, progress));
  Result<double> us = task.timing == Timing::Eager   ? eager(reference, task.place, progress)
                      : task.timing == Timing::Graph ? graph(reference, task.place, progress)
                                                     : latency(reference, task.place, progress);
  if (!us)
    return us.status();
  seen.us = *us;
  if (compares)
    COLL_RETURN_IF_ERROR(compare(reference, task.place, progress, seen));
  return seen;
}

Result<double> Member::eager(const Reference &reference, Placement place,
                             const Progress &progress) {
  for (int i = 0; i < plan_.warmup; ++i) {
    progress("warm-up");
    COLL_RETURN_IF_ERROR(once(reference, place, streams_));
  }
  COLL_RETURN_IF_ERROR(synchronize());
  // A new stage is reported before the time measurement begins, and the clock is not read for each
  // operation.
  constexpr int kOpsPerWord = 16;
  const char *stage = "eager operations";
  progress(stage);
  COLL_RETURN_IF_ERROR(meet());
  Clock::time_point begin = Clock::now();
  for (int i = 0; i < plan_.iterations; ++i) {
    if (i % kOpsPerWord == kOpsPerWord - 1)
      progress(stage);
    COLL_RETURN_IF_ERROR(once(reference, place, streams_));
  }
  COLL_RETURN_IF_ERROR(synchronize());
  return since(begin) / plan_.iterations;
}

Result<double> Member::graph(const Reference &reference, Placement place,
                             const Progress &progress) {
  progress("capture");
  Status captured = buffers_->capture([&] {
    for (int i = 0; i < plan_.iterations; ++i)
      COLL_RETURN_IF_ERROR(once(reference, place, /*streamed=*/true));
    return Status();
  });
  double us = 0;
  // The first replay is a warm-up.
  for (int replay = 0; replay < 2 && captured.ok(); ++replay) {
    progress("replay");
    captured = meet();
    Clock::time_point begin = Clock::now();
    if (captured.ok())
      captured = buffers_->launch();
    if (captured.ok())
      captured = synchronize();
    us = since(begin) / plan_.iterations;
  }
  buffers_->forget();
  if (!captured.ok())
    return captured;
  return us;
}

Result<double> Member::latency(const Reference &reference, Placement place,
                               const Progress &progress) {
  std::vector<double> times;
  for (int i = 0; i < plan_.warmup + plan_.iterations; ++i) {
    progress("isolated operations");
    COLL_RETURN_IF_ERROR(meet());
    Clock::time_point begin = Clock::now();
    COLL_RETURN_IF_ERROR(once(reference, place, /*streamed=*/false));
    if (i >= plan_.warmup)
      times.push_back(since(begin));
  }
  return median(times);
}

} // namespace coll::perf
