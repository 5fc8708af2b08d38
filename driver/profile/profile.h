//===- profile.h - what --profile writes --------------------------------*- C++ -*-===//

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

/// How a process's clock stands to that of rank 0's process.
struct ClockOffset {
  int64_t aheadNs = 0;
  int64_t errorNs = 0; // the offset is right within so much
};

/// Between two moments of rank 0's clock another process has read its own.
struct ClockReading {
  int64_t fromNs, toNs;
  int64_t clockNs;
};
/// The middle of what all readings allow; the error is half of it.
ClockOffset offsetOf(const std::vector<ClockReading> &readings);

/// All processes of the job call it. Zero, and exact, where they run on one machine. Otherwise each
/// reads its clock between two moments of rank 0's; the closest of `rounds` such moments count.
rt::Result<ClockOffset> measureClock(rt::Executor &executor, int rounds = 8);

/// The timeline of one run: one file with the ranks of all processes, which rank 0's writes. It
/// grows step by step with this process's ranks; the others' follow at the end. Where the run
/// fails, each of the others writes its own beside it, as FILE.rank3.
class Profile {
public:
  /// Most bytes of the trace of a process other than rank 0's, which keeps it in memory.
  static constexpr size_t kMaxBytes = size_t(64) << 20;

  /// Creates the file, where this is the process of rank 0: what cannot be written is found out
  /// before the run. `path` may be empty in other processes.
  static llvm::Expected<std::unique_ptr<Profile>> create(const std::string &path,
                                                         const Place &place);

  ~Profile();

  /// Runs `work`, which runs the executor, and writes what the ranks do meanwhile. Returns the
  /// error of `work` alone; `note` is told what became of the file.
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
