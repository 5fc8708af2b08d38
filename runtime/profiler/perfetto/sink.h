// sink.h - the destination of a trace's bytes.

#ifndef COLL_RUNTIME_PROFILER_PERFETTO_SINK_H
#define COLL_RUNTIME_PROFILER_PERFETTO_SINK_H

#include "runtime/base/fd.h"
#include "runtime/base/status.h"

#include <string>
#include <string_view>

namespace coll::profiler::perfetto {

class Sink {
public:
  virtual ~Sink() = default;
  // Writes all of `bytes`, or returns why not. May block.
  virtual rt::Status write(std::string_view bytes) = 0;
};

// A file that is created, or emptied.
class FileSink : public Sink {
public:
  // kCollInvalidCall with the system's reason and the path.
  static rt::Result<FileSink> create(const std::string &path);
  rt::Status write(std::string_view bytes) override;

private:
  FileSink(rt::Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  rt::Fd fd_;
  std::string path_;
};

} // namespace coll::profiler::perfetto

#endif // COLL_RUNTIME_PROFILER_PERFETTO_SINK_H
