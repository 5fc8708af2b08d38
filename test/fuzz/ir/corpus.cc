#include "test/fuzz/ir/corpus.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

namespace coll::fuzz {
namespace {

std::vector<std::string> findFiles(const std::vector<std::string> &folders) {
  std::vector<std::string> paths;
  for (const std::string &folder : folders) {
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error;
         it.increment(error))
      if (llvm::StringRef(it->path()).ends_with(".mlir"))
        paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace

std::vector<std::string> readCorpus(const std::vector<std::string> &folders, size_t maxBytes) {
  std::vector<std::string> texts;
  for (const std::string &path : findFiles(folders)) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      continue;
    llvm::SmallVector<llvm::StringRef> parts;
    (*file)->getBuffer().split(parts, "// -----");
    for (llvm::StringRef part : parts)
      if (part.size() <= maxBytes && part.contains('='))
        texts.push_back(part.str());
  }
  return texts;
}

} // namespace coll::fuzz
