//===- npz.h - archives of arrays, as numpy.savez writes them ---------*- C++ -*-===//
//
// An archive is a zip file with one `NAME.npy` per array, stored or deflated. Every
// error names the file and the array.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_NPZ_H
#define COLL_DRIVER_NPZ_H

#include "driver/npy.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <utility>

struct zip;

namespace coll::run {

/// An archive open for reading. Not thread-safe.
class NpzFile {
public:
  /// Reads the directory. An array that occurs twice is an error; entries that are
  /// no arrays are ignored.
  static llvm::Expected<NpzFile> open(llvm::StringRef path);

  llvm::StringRef path() const { return path_; }
  bool contains(llvm::StringRef name) const { return entries_.count(name); }

  /// Names of all arrays, in the order of the archive.
  const std::vector<std::string> &names() const { return names_; }

  /// The number of consecutive arrays `prefix0`, `prefix1`, … in the archive.
  int64_t countNumbered(llvm::StringRef prefix) const;

  /// Names, sizes and checksums of all arrays, as the directory has them: they distinguish the
  /// contents of two files without reading them.
  std::string describeContents() const;

  /// Reads one array, converted to row-major order. The file may be hostile: sizes are
  /// checked against what is stored before memory is allocated.
  llvm::Expected<NpyArray> read(llvm::StringRef name) const;

private:
  struct Close {
    void operator()(zip *archive) const;
  };
  NpzFile() = default;
  llvm::Expected<NpyArray> readEntry(uint64_t index) const;

  std::string path_;
  std::unique_ptr<zip, Close> archive_;
  std::vector<std::string> names_;
  llvm::StringMap<uint64_t> entries_;
  uint64_t fileBytes_ = 0;
};

/// Fails if `writeNpz` to this path would, as far as can be told beforehand.
llvm::Error checkWritable(llvm::StringRef path);

/// Writes an archive that numpy.load reads. The file appears complete or not at all; on failure a
/// file that was there is unchanged. If the path is a link, the file that it names is written.
llvm::Error writeNpz(llvm::StringRef path, llvm::ArrayRef<std::pair<std::string, NpyArray>> arrays);

} // namespace coll::run

#endif // COLL_DRIVER_NPZ_H
