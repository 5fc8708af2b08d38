#include "tools/coll-perf/output.h"

#include "runtime/net/socket.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coll::perf {

namespace {

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

rt::Status cannotWrite(const std::string &path, int error) {
  return {kCollInvalidCall,
          "cannot write \"" + path + "\": " +
              (error == ENXIO ? "the reader of this pipe has closed it" : std::strerror(error))};
}

// Opening a pipe would wait for its reader, so it is opened in non-blocking mode; the writes are
// blocking.
net::Fd openToWrite(const std::string &path, int flags) {
  net::Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0666));
  if (file.valid())
    (void)fcntl(file.get(), F_SETFL, flags & ~O_TRUNC);
  return file;
}

// Returns 0 or errno.
int writeAll(const net::Fd &file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return count < 0 ? errno : ENOSPC;
    done += static_cast<size_t>(count);
  }
  return 0;
}

} // namespace

int fail(const rt::Status &status, int rank) {
  const bool isSkipped = status.code() == kCollUnsupported;
  if (rank == 0)
    std::fprintf(isSkipped ? stdout : stderr, "%s: %s\n", isSkipped ? "SKIPPED" : "coll-perf",
                 status.message().c_str());
  return isSkipped ? kSkipped : status.code() == kCollInvalidCall ? 2 : 1;
}

std::string whyNotWritable(const std::string &path) {
  struct stat info = {};
  int error = path.empty() ? ENOENT : 0;
  if (error == 0 && stat(path.c_str(), &info) == 0)
    error = S_ISDIR(info.st_mode) ? EISDIR : access(path.c_str(), W_OK) == 0 ? 0 : errno;
  else if (error == 0 && access(folderOf(path).c_str(), W_OK | X_OK) != 0)
    error = errno;
  return error == 0 ? "" : cannotWrite(path, error).message();
}

rt::Status appendToFile(const std::string &path, const std::string &text) {
  const net::Fd file = openToWrite(path, O_APPEND);
  if (!file.valid())
    return cannotWrite(path, errno);
  (void)flock(file.get(), LOCK_EX); // others may append at the same time; a pipe has no lock
  struct stat before = {};
  const bool isRegular = fstat(file.get(), &before) == 0 && S_ISREG(before.st_mode);
  const int error = writeAll(file, text);
  if (error != 0 && isRegular)
    (void)!ftruncate(file.get(), before.st_size); // a partial row would spoil the next one
  return error == 0 ? rt::Status() : cannotWrite(path, error);
}

rt::Status replaceFile(const std::string &path, const std::string &text) {
  struct stat info = {};
  // A device or a pipe is not replaced.
  const bool isSpecial = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  const std::string written = isSpecial ? path : path + "." + std::to_string(getpid()) + ".new";
  const net::Fd file = openToWrite(written, O_TRUNC);
  int error = file.valid() ? writeAll(file, text) : errno;
  if (error == 0 && !isSpecial && std::rename(written.c_str(), path.c_str()) != 0)
    error = errno;
  if (error == 0)
    return {};
  if (!isSpecial)
    (void)unlink(written.c_str()); // nothing more can be done about it
  return cannotWrite(path, error);
}

} // namespace coll::perf
