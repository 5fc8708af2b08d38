// corpus.h - the texts that mutations start from.

#ifndef COLL_TEST_FUZZ_IR_CORPUS_H
#define COLL_TEST_FUZZ_IR_CORPUS_H

#include <string>
#include <vector>

namespace coll::fuzz {

// All `.mlir` files under the folders, cut where a line is `// -----`, in the order of their
// paths. Larger ones than `maxBytes` are left out.
std::vector<std::string> readCorpus(const std::vector<std::string> &folders, size_t maxBytes);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_IR_CORPUS_H
