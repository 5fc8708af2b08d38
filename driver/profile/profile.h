//===- profile.h - the timeline that --profile writes -------------------*- C++ -*-===//

#ifndef COLL_DRIVER_PROFILE_PROFILE_H
#define COLL_DRIVER_PROFILE_PROFILE_H

#include "driver/place.h"
#include "runtime/profiler/perfetto/sink.h"
#include "runtime/step/executor.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace coll::run {

/// The offset of a process's clock from that of rank 0's process.
struct ClockOffset {
  int64_t aheadNs = 0;
  int64_t errorNs = 0; // the offset is right within so much
};

/// Another process read its clock between two readings of rank 0's clock.
struct ClockReading {
  int64_t fromNs, toNs;
  int64_t clockNs;
};
/// The middle of the interval that all readings allow; the error is half its length.
ClockOffset offsetOf(const std::vector<ClockReading> &readings);

/// All processes of the job call it. Zero, and exact, where they run on one machine. Otherwise each
/// reads its clock between two moments of rank 0's; the closest of `rounds` such moments count.
rt::Result<ClockOffset> measureClock(rt::Executor &executor, int rounds = 8);

/// The timeline of one run: one file with the ranks of all processes, which rank 0's process
/// writes. The ranks of this process are appended step by step; those of the others follow at the
/// end. If the run fails, each of the others writes a file of its own beside it, such as
/// FILE.rank3.
class Profile {
public:
  /// Most bytes of the trace of a process other than rank 0's, which keeps it in memory.
  static constexpr size_t kMaxBytes = size_t(64) << 20;

  /// Creates the file, if this is the process of rank 0, so that a path that cannot be written is
  /// an error before the run. `path` may be empty in other processes.
  static llvm::Expected<std::unique_ptr<Profile>> create(const std::string &path,
                                                         const Place &place);

  ~Profile();

  /// Runs `work`, which runs the executor, and writes what the ranks do meanwhile. Returns only the
  /// error of `work`; whether the file was written is passed to `note`.
  llvm::Error record(rt::Executor &executor, const std::function<llvm::Error()> &work,
                     const std::function<void(const std::string &)> &note);

private:
  class MemorySink;

  Profile(const std::string &path, const Place &place);
  rt::Status finish(rt::Executor &executor, bool hasFailed);

  std::string path_;
  const Place &place_;
  std::optional<profiler::perfetto::FileSink> file_; // rank 0's
  std::unique_ptr<MemorySink> memory_;               // the others'
};

} // namespace coll::run

#endif // COLL_DRIVER_PROFILE_PROFILE_H
