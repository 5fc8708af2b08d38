#include "compiler/code_cache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir::coll;

// LLVM's pruning takes files of this name only.
static constexpr llvm::StringLiteral kPrefix = "llvmcache-";
// Changes with the layout of a file.
static constexpr llvm::StringLiteral kMagic = "coll code 2\n";
static constexpr size_t kDigestBytes = sizeof(CodeKey);
static constexpr size_t kHeaderBytes = kMagic.size() + 2 * kDigestBytes;
static constexpr std::chrono::milliseconds kPollInterval{5};

static llvm::Error makeError(const llvm::Twine &what, int code) {
  return llvm::createStringError(what + ": " + std::strerror(code));
}

static llvm::StringRef toText(const CodeKey &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

CodeKey mlir::coll::makeCodeKey(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::BLAKE3 hash;
  for (llvm::StringRef part : parts) {
    char size[sizeof(uint64_t)];
    llvm::support::endian::write64le(size, part.size());
    hash.update(llvm::StringRef(size, sizeof(size)));
    hash.update(part);
  }
  return hash.final<kDigestBytes>();
}

namespace {
/// The digest of what is written to it.
class DigestStream : public llvm::raw_ostream {
public:
  DigestStream() : raw_ostream(/*unbuffered=*/true) {}
  CodeKey digest() { return hash_.final<kDigestBytes>(); }

private:
  void write_impl(const char *data, size_t size) override {
    hash_.update(llvm::StringRef(data, size));
    position_ += size;
  }
  uint64_t current_pos() const override { return position_; }

  llvm::BLAKE3 hash_;
  uint64_t position_ = 0;
};
} // namespace

static CodeKey digestOf(CodeCache::Writer write) {
  DigestStream stream;
  write(stream);
  return stream.digest();
}

llvm::Expected<CodeCache> CodeCache::open(llvm::StringRef folder, uint64_t maxBytes) {
  CodeCache cache(folder, maxBytes);
  if (std::error_code code = llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true,
                                                               llvm::sys::fs::owner_all))
    return llvm::createStringError("cannot create folder '" + folder + "': " + code.message());
  struct stat status;
  if (stat(cache.folder_.c_str(), &status) != 0)
    return makeError("'" + folder + "'", errno);
  if (!S_ISDIR(status.st_mode))
    return llvm::createStringError("'" + folder + "' is not a folder");
  if (status.st_uid != geteuid())
    return llvm::createStringError("folder '" + folder + "' belongs to another user");
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return llvm::createStringError("others may write to folder '" + folder + "'");
  return cache;
}

std::string CodeCache::pathOf(const CodeKey &key) const {
  llvm::SmallString<256> path(folder_);
  llvm::sys::path::append(path, kPrefix + llvm::toHex(key, /*LowerCase=*/true));
  return path.str().str();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> CodeCache::find(const CodeKey &key) const {
  std::string path = pathOf(key);
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) {
    if (errno == ENOENT)
      return nullptr;
    return makeError("cannot read '" + path + "'", errno);
  }
  // Sets the time of last access, which decides eviction; file systems may not update it by
  // themselves.
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  (void)futimens(fd, times);
  // Volatile: not mapped, so that a file that shrinks does not cause a bus error.
  auto file = llvm::MemoryBuffer::getOpenFile(fd, path, /*FileSize=*/-1,
                                              /*RequiresNullTerminator=*/false,
                                              /*IsVolatile=*/true);
  ::close(fd);
  if (!file)
    return llvm::createStringError("cannot read '" + path + "': " + file.getError().message());
  llvm::StringRef bytes = (*file)->getBuffer();
  llvm::StringRef payload = bytes.drop_front(std::min(kHeaderBytes, bytes.size()));
  std::string header =
      (kMagic + toText(key) + toText(digestOf([&](llvm::raw_ostream &os) { os << payload; })))
          .str();
  if (bytes.take_front(kHeaderBytes) != header)
    return llvm::createStringError("'" + path + "' is damaged");
  return llvm::MemoryBuffer::getMemBufferCopy(payload, path);
}

llvm::Error CodeCache::store(const CodeKey &key, Writer write) const {
  llvm::SmallString<256> model(folder_), temporary;
  llvm::sys::path::append(model, kPrefix + "new-%%%%%%%%%%%%");
  int fd = -1;
  if (std::error_code code =
          llvm::sys::fs::createUniqueFile(model, fd, temporary, llvm::sys::fs::OF_None,
                                          llvm::sys::fs::owner_read | llvm::sys::fs::owner_write))
    return llvm::createStringError("cannot write to '" + folder_ + "': " + code.message());
  llvm::raw_fd_ostream file(fd, /*shouldClose=*/true);
  file << kMagic << toText(key) << toText(digestOf(write));
  write(file);
  file.close();
  std::error_code code = file.error();
  file.clear_error();
  if (!code)
    code = llvm::sys::fs::rename(temporary, pathOf(key));
  if (code) {
    (void)llvm::sys::fs::remove(temporary);
    return llvm::createStringError("cannot write to '" + folder_ + "': " + code.message());
  }
  prune();
  return llvm::Error::success();
}

void CodeCache::prune() const {
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::seconds(0);
  policy.MaxSizeBytes = maxBytes_;
  llvm::pruneCache(folder_, policy);
}

CodeCache::Lock CodeCache::lock(const CodeKey &key, std::chrono::milliseconds timeout) const {
  llvm::SmallString<256> path(folder_);
  llvm::sys::path::append(path, "lock");
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return Lock();
  // One byte of one file for each entry. The lock is the descriptor's, and goes with it.
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(llvm::support::endian::read64le(key.data()) >> 2);
  range.l_len = 1;
  auto deadline = std::chrono::steady_clock::now() + timeout;
  while (fcntl(fd, F_OFD_SETLK, &range) != 0) {
    bool isTaken = errno == EAGAIN || errno == EACCES || errno == EINTR;
    if (!isTaken || std::chrono::steady_clock::now() >= deadline) {
      ::close(fd);
      return Lock();
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return Lock(fd);
}

CodeCache::Lock &CodeCache::Lock::operator=(Lock &&other) {
  std::swap(fd_, other.fd_);
  return *this;
}

CodeCache::Lock::~Lock() {
  if (fd_ >= 0)
    ::close(fd_);
}
