// memory_file.h - a file that only memory holds, for what reads paths.

#ifndef COLL_TEST_FUZZ_MEMORY_FILE_H
#define COLL_TEST_FUZZ_MEMORY_FILE_H

#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace coll::fuzz {

class MemoryFile {
public:
  explicit MemoryFile(const std::string &bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    isOk_ = fd_ >= 0 && write(fd_, bytes.data(), bytes.size()) == ssize_t(bytes.size());
  }
  ~MemoryFile() {
    if (fd_ >= 0)
      close(fd_);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  bool ok() const { return isOk_; }
  // Valid in this process while the object lives.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
  int fd_;
  bool isOk_;
};

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_MEMORY_FILE_H
