#include "runtime/exchange/tensor/shared_segment.h"

#include "runtime/net/node_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace coll::rt::exchange {

namespace {

Status failed(const char *call, int error) {
  return {kCollDevice, std::string("shared memory: ") + call + ": " + std::strerror(error)};
}

} // namespace

SharedSegment &SharedSegment::operator=(SharedSegment &&other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedSegment::~SharedSegment() {
  if (data_)
    munmap(data_, static_cast<size_t>(bytes_));
}

Result<SharedSegment> SharedSegment::create(int64_t bytes) {
  if (bytes < 0)
    return Status::invalid("no memory has " + std::to_string(bytes) + " bytes");
  Result<std::string> name = net::freshNodeName();
  if (!name)
    return name.status();
  const std::string path = "/" + *name;
  SharedSegment segment;
  segment.fd_ = Fd(shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!segment.fd_.valid())
    return failed("shm_open", errno);
  (void)shm_unlink(path.c_str());
  // Reports a lack of memory here; otherwise a later access would raise a signal.
  const int64_t size = std::max<int64_t>(bytes, 1);
  if (const int error = posix_fallocate(segment.fd_.get(), 0, size); error != 0)
    return failed("posix_fallocate", error);
  COLL_RETURN_IF_ERROR(segment.map(segment.fd_.get(), size));
  return segment;
}

Result<SharedSegment> SharedSegment::open(const Fd &fd, int64_t least) {
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0)
    return failed("fstat", errno);
  if (info.st_size < least || info.st_size == 0)
    return Status::invalid("the shared memory has " + std::to_string(info.st_size) +
                           " bytes, the tensor needs " + std::to_string(least));
  SharedSegment segment;
  COLL_RETURN_IF_ERROR(segment.map(fd.get(), info.st_size));
  return segment;
}

Status SharedSegment::map(int fd, int64_t bytes) {
  void *data = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    return failed("mmap", errno);
  data_ = static_cast<char *>(data);
  bytes_ = bytes;
  return {};
}

} // namespace coll::rt::exchange
