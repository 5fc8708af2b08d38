//===- code_cache.h - compiled code, kept on disk ---------------------*- C++ -*-===//
//
// A folder with one file per entry. Files appear by renaming, so a reader never sees a part of one;
// each holds its key and a digest, so that a damaged or foreign file is detected and not used. Any
// number of processes may use a folder at once.
//
// An entry is run as code, so a folder that other users may write to is refused.
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

/// The digest of the list `parts`: ("ab", "c") and ("a", "bc") differ.
CodeKey makeCodeKey(llvm::ArrayRef<llvm::StringRef> parts);

class CodeCache {
public:
  /// Opens `folder`, which is made where it is missing. Entries are kept up to `maxBytes`
  /// together (0: without limit); those not used for longest go first.
  static llvm::Expected<CodeCache> open(llvm::StringRef folder, uint64_t maxBytes);

  /// The content that was stored under `key`. Null if there is none; an error if the file is
  /// damaged.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> find(const CodeKey &key) const;

  /// Stores what `write` writes under `key`, replacing an earlier entry, and evicts others to make
  /// room. `write` is called twice and has to write the same bytes, so that the entry is never in
  /// memory as a whole.
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

  /// Waits until no other process makes the entry, at most `timeout`. The lock is not held if that
  /// time has passed, or if no file can be created in the folder.
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
