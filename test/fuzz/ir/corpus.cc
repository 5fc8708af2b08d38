#include "test/fuzz/ir/corpus.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

namespace coll::fuzz {
namespace {

llvm::Error addFilesBelow(const std::string &folder, std::vector<std::string> &files) {
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".mlir"))
      files.push_back(it->path());
  return error ? llvm::createFileError(folder, error) : llvm::Error::success();
}

llvm::Expected<std::vector<std::string>> findFiles(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (!llvm::sys::fs::is_directory(path))
      files.push_back(path);
    else if (llvm::Error error = addFilesBelow(path, files))
      return error;
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

llvm::Expected<std::vector<TextFile>> readFiles(const std::vector<std::string> &paths) {
  auto found = findFiles(paths);
  if (!found)
    return found.takeError();
  std::vector<TextFile> files;
  for (std::string &path : *found) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return llvm::createFileError(path, buffer.getError());
    files.push_back({std::move(path), (*buffer)->getBuffer().str()});
  }
  if (files.empty())
    return llvm::createStringError("no .mlir files are given");
  return files;
}

std::vector<std::string> splitCorpus(const std::vector<TextFile> &files, size_t maxBytes) {
  std::vector<std::string> texts;
  for (const TextFile &file : files) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(file.text).split(parts, "// -----");
    for (llvm::StringRef part : parts)
      if (part.size() <= maxBytes && part.contains('='))
        texts.push_back(part.str());
  }
  return texts;
}

} // namespace coll::fuzz
