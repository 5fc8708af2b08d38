// bytes.h - random changes of bytes.

#ifndef COLL_TEST_FUZZ_DATA_BYTES_H
#define COLL_TEST_FUZZ_DATA_BYTES_H

#include "test/fuzz/random.h"

#include <string>

namespace coll::fuzz {

// Changes a few places: bits flip, numbers of 1 to 8 bytes or of digits become extreme,
// ranges are erased, repeated, exchanged or taken from `other`.
std::string mutateBytes(std::string bytes, const std::string &other, Random &random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_DATA_BYTES_H
