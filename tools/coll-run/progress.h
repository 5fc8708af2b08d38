//===- progress.h - what the user sees while steps run -----------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_PROGRESS_H
#define COLL_TOOLS_COLL_RUN_PROGRESS_H

#include "runtime/step/executor.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <optional>
#include <vector>

namespace coll::run {

/// One line on stderr that rewrites itself where stderr is a terminal; elsewhere a
/// line for the first step, the last, and each tenth of the way.
class Progress {
public:
  Progress(int64_t total, bool isQuiet);

  /// Step `done` of `total` (from 1) is finished.
  void update(int64_t done, std::optional<double> loss, int64_t bytesPerStep);
  /// Ends the line.
  void finish();

private:
  using Clock = std::chrono::steady_clock;

  void drawBar(int64_t done, std::optional<double> loss, int64_t bytesPerStep);
  bool isDue(int64_t done);

  int64_t total_;
  bool isQuiet_;
  bool isTerminal_;
  bool isLineOpen_ = false;
  Clock::time_point start_;
  Clock::time_point lastDrawn_;
};

/// Whether the user's locale can show block characters.
bool isUnicodeLocale();

/// Prints the losses as a chart, at most 60 columns wide and 8 lines high. Losses
/// that are not finite are left out; fewer than two print nothing.
void printLossCurve(llvm::raw_ostream &os, const std::vector<double> &losses, bool isUnicode);

/// "4 ranks, 8 steps: 512 steps/s, 1.95 ms/step; per step and rank: …"
void printSummary(llvm::raw_ostream &os, int ranks, int64_t steps, double seconds,
                  const rt::Executor::Stats &stats);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_PROGRESS_H
