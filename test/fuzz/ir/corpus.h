// corpus.h - the files that are replayed, and the texts that mutations start from.

#ifndef COLL_TEST_FUZZ_IR_CORPUS_H
#define COLL_TEST_FUZZ_IR_CORPUS_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace coll::fuzz {

struct TextFile {
  std::string path, text;
};

// The files, and all `.mlir` files under those that are folders, in the order of their paths. An
// error where there is none, or one cannot be read.
llvm::Expected<std::vector<TextFile>> readFiles(const std::vector<std::string> &paths);

// The files' texts, cut where a line is `// -----`. Larger ones than `maxBytes` are left out.
std::vector<std::string> splitCorpus(const std::vector<TextFile> &files, size_t maxBytes);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_IR_CORPUS_H
