// fd.h - a file descriptor, owned.

#ifndef COLL_RUNTIME_BASE_FD_H
#define COLL_RUNTIME_BASE_FD_H

#include <unistd.h>
#include <utility>

namespace coll::rt {

class Fd {
public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd &operator=(Fd &&other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = -1;
  }

private:
  int fd_ = -1;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_FD_H
