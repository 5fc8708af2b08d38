//===- code_cache.h - compiled code, kept on disk ---------------------*- C++ -*-===//
//
// A folder with one file per entry. Files appear by renaming, so a reader never sees a part
// of one; each holds its key and a digest, so what is damaged or not of the cache is found
// and not used. Any number of processes may use a folder at once.
//
// What an entry holds is run as code: a folder that others may write to is refused.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_CODE_CACHE_H
#define COLL_COMPILER_CODE_CACHE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <chrono>
#include <memory>
#include <string>

namespace mlir::coll {

/// The digest of everything that an entry depends on.
using CodeKey = std::array<uint8_t, 32>;

/// The digest of `parts`, which are told apart: ("ab", "c") is not ("a", "bc").
CodeKey makeCodeKey(llvm::ArrayRef<llvm::StringRef> parts);

class CodeCache {
public:
  /// Opens `folder`, which is made where it is missing. Entries are kept up to `maxBytes`
  /// together (0: without limit); those not used for longest go first.
  static llvm::Expected<CodeCache> open(llvm::StringRef folder, uint64_t maxBytes);

  /// What was stored under `key`. Null where there is nothing; an error where there is
  /// something else than was stored.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> find(const CodeKey &key) const;

  /// Keeps what `write` writes under `key`, in place of what was there, and makes room for it.
  /// `write` is called twice, and writes the same: the entry is never in memory as a whole.
  using Writer = llvm::function_ref<void(llvm::raw_ostream &)>;
  llvm::Error store(const CodeKey &key, Writer write) const;

  /// Held by the one process that makes an entry. Ends with the object, or the process.
  class Lock {
  public:
    Lock() = default;
    explicit Lock(int fd) : fd_(fd) {}
    Lock(Lock &&other) : fd_(other.fd_) { other.fd_ = -1; }
    Lock &operator=(Lock &&other);
    ~Lock();
    bool isHeld() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
  };

  /// Waits until no one else makes the entry, at most `timeout`. Not held where that has
  /// passed, or where the folder takes no files.
  Lock lock(const CodeKey &key, std::chrono::milliseconds timeout) const;

private:
  CodeCache(llvm::StringRef folder, uint64_t maxBytes)
      : folder_(folder.str()), maxBytes_(maxBytes) {}
  std::string pathOf(const CodeKey &key) const;
  void prune() const;

  std::string folder_;
  uint64_t maxBytes_;
};

} // namespace mlir::coll

#endif // COLL_COMPILER_CODE_CACHE_H
