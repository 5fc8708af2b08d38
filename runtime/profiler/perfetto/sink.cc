#include "runtime/profiler/perfetto/sink.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace coll::profiler::perfetto {

rt::Result<FileSink> FileSink::create(const std::string &path) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    return rt::Status::invalid("cannot create the trace file \"" + path +
                               "\": " + std::strerror(errno));
  return FileSink(rt::Fd(fd), path);
}

rt::Status FileSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return rt::Status::invalid("cannot write to the trace file \"" + path_ +
                                 "\": " + std::strerror(written < 0 ? errno : ENOSPC));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return rt::Status::okay();
}

} // namespace coll::profiler::perfetto
