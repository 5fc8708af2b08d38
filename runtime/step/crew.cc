#include "runtime/step/crew.h"

#include "runtime/base/env.h"
#include "runtime/base/machine.h"
#include "runtime/base/thread.h"

#include <cfenv>
#include <chrono>

namespace coll::rt {

static constexpr int64_t kSleepUs = 3'600'000'000; // then checks the condition again
static constexpr int kPollsPerLook = 16;           // polls between checks of the clock

// Does not yield: on a busy machine that may take longer than to sleep and wake up.
static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

namespace {

// Sets the default rounding for every member. A thread that flushes small numbers to zero, or was
// started by such a thread, would compute other results than the other ranks.
class DefaultFloats {
public:
  DefaultFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&before_); }
  DefaultFloats(const DefaultFloats &) = delete;
  DefaultFloats &operator=(const DefaultFloats &) = delete;

private:
  std::fenv_t before_;
};

} // namespace

Crew::Crew(int size, First first)
    : callerTakesPart_(first == First::Caller),
      pollUs_(size + (first == First::Thread ? 1 : 0) <= numAllowedProcessors()
                  ? envInt(EnvVar::SpinUs)
                  : 0) {}

Result<std::unique_ptr<Crew>> Crew::create(int size, First first) {
  std::unique_ptr<Crew> crew(new Crew(size, first));
  for (int i = first == First::Caller ? 1 : 0; i < size; ++i) {
    Member &member = *crew->members_.emplace_back(std::make_unique<Member>());
    COLL_RETURN_IF_ERROR(startThread(member.thread,
                                     "rank " + std::to_string(i) + " of " + std::to_string(size) +
                                         " in this process",
                                     [self = crew.get(), &member, i] { self->loop(member, i); }));
  }
  return crew;
}

Crew::~Crew() {
  begin(nullptr);
  for (const std::unique_ptr<Member> &member : members_)
    if (member->thread.joinable())
      member->thread.join();
}

template <typename Condition>
void Crew::wait(Parker &parker, Condition condition) const {
  using Clock = std::chrono::steady_clock;
  if (condition())
    return;
  if (pollUs_ > 0) {
    const Clock::time_point end = Clock::now() + std::chrono::microseconds(pollUs_);
    do
      for (int i = 0; i < kPollsPerLook; ++i) {
        relax();
        if (condition())
          return;
      }
    while (Clock::now() < end);
  }
  while (true) {
    // Before the check: a change after the check then ends the sleep.
    parker.announce();
    if (condition())
      return parker.retract();
    parker.park(kSleepUs);
  }
}

void Crew::begin(const std::function<void(int)> *task) {
  task_ = task;
  running_.store(static_cast<int>(members_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  Parker::fence();
  for (const std::unique_ptr<Member> &member : members_)
    member->parker.unparkFenced();
}

void Crew::run(const std::function<void(int)> &task) {
  if (!members_.empty())
    begin(&task);
  if (callerTakesPart_) {
    DefaultFloats floats;
    task(0);
  }
  wait(end_, [this] { return running_.load(std::memory_order_acquire) == 0; });
}

void Crew::loop(Member &self, int index) {
  DefaultFloats floats;
  for (uint64_t seen = 0;; ++seen) {
    wait(self.parker, [&] { return round_.load(std::memory_order_acquire) != seen; });
    const std::function<void(int)> *task = task_;
    if (!task)
      return;
    (*task)(index);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      end_.unpark();
  }
}

} // namespace coll::rt
