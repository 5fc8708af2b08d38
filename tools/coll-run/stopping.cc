//===- stopping.cc - a run that its user ends early -----------------------------===//

#include "tools/coll-run/stopping.h"

#include "compiler/error.h"
#include "driver/tensors.h"
#include "tools/common/signals.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <unistd.h>

namespace coll::run {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
constexpr double kAskSeconds = 0.1;
constexpr std::string_view kAnswer =
    "\ncoll-run: the run ends after this step and is saved; another signal, a second or more from "
    "now, ends it at once\n";

// The handler may run on two threads at once.
std::atomic<bool> isAnswered = false;
std::atomic<int> receivedSignal = 0;
std::atomic<bool> isAnswering = false;
static_assert(std::atomic<int>::is_always_lock_free, "a handler takes no locks");

void onSignal(int number) {
  const int error = errno;
  // Further signals within a second are copies: a terminal signals this process and also the one
  // that passes signals on.
  if (!isAnswered.exchange(true)) {
    if (isAnswering)
      (void)!write(STDERR_FILENO, kAnswer.data(), kAnswer.size());
    // Last: the run may end, and print its summary, as soon as it sees the number.
    receivedSignal = number;
  }
  errno = error;
}

/// The message from rank 0's process to the others.
std::string writeVerdict(int signal, int64_t next) {
  return std::to_string(signal) + " " + std::to_string(next);
}

bool readVerdict(llvm::StringRef text, int &signal, int64_t &next) {
  auto [first, second] = text.split(' ');
  return !first.getAsInteger(10, signal) && !second.getAsInteger(10, next);
}

} // namespace

Stopping::Stopping(rt::Executor &executor, int64_t steps, bool isTalking)
    : executor_(executor), steps_(steps) {
  receivedSignal = 0;
  isAnswered = false;
  isAnswering = isTalking;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    before_[i] = handleUserSignal(kSignals[i], onSignal);
}

Stopping::~Stopping() {
  if (!signal_)
    restore();
}

void Stopping::restore() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    signal(kSignals[i], before_[i]);
}

int Stopping::finish() {
  if (!signal_)
    signal_ = receivedSignal;
  if (!signal_)
    restore();
  return signal_;
}

/// Adapts the interval to the time of the last steps; slowly, since the first steps may be unlike
/// the rest.
int64_t Stopping::chooseNext(int64_t step) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - asked_).count();
  const int64_t passed = step - last_;
  const double wanted = kAskSeconds * double(passed) / std::max(seconds, 1e-9);
  const int64_t ahead = int64_t(std::clamp(wanted, 1.0, 2.0 * double(passed)));
  return std::min(step + ahead, steps_);
}

llvm::Expected<int> Stopping::agreeAfter(int64_t step) {
  if (step < next_)
    return 0;
  auto signals = toExpected(executor_.gather(std::to_string(receivedSignal)));
  if (!signals)
    return signals.takeError();
  int signal = 0;
  for (const std::string &text : *signals)
    if (signal == 0 && !llvm::to_integer(text, signal))
      return makeError("a rank did not say which signal it has received: " + text);
  auto verdict = toExpected(executor_.broadcast(writeVerdict(signal, chooseNext(step))));
  if (!verdict)
    return verdict.takeError();
  last_ = step;
  asked_ = Clock::now();
  if (!readVerdict(*verdict, signal, next_) || (next_ <= step && step < steps_))
    return makeError("rank 0 did not say whether the run goes on: " + *verdict);
  if (signal)
    isAnswered = true; // what still comes is the same request
  return signal_ = signal;
}

} // namespace coll::run
