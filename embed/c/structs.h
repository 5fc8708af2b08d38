// structs.h - structs whose size the caller says, so that either side may be newer.

#ifndef COLL_EMBED_C_STRUCTS_H
#define COLL_EMBED_C_STRUCTS_H

#include "embed/c/outcome.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace coll::embed {

inline constexpr size_t kMaxStructBytes = 4096;

inline Outcome checkStructSize(size_t size, const char *name) {
  if (size >= sizeof(size_t) && size <= kMaxStructBytes)
    return nullptr;
  return invalid(std::string(name) + ".struct_size is " + std::to_string(size) +
                 ": set it to sizeof(" + name + ")");
}

// Fields that the caller's header does not have stay as they are in `options`.
template <typename Options>
Outcome readStruct(const Options *given, const char *name, Options &options) {
  if (!given)
    return invalid(std::string(name) + " is null");
  const size_t size = given->struct_size;
  COLL_EMBED_TRY(checkStructSize(size, name));
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(Options); i < size; ++i)
    if (bytes[i] != 0)
      return fail(COLL_UNSUPPORTED, std::string(name) +
                                        " sets a field that this library, version " +
                                        std::to_string(COLL_VERSION_MAJOR) + "." +
                                        std::to_string(COLL_VERSION_MINOR) + ", does not have");
  std::memcpy(&options, given, std::min(size, sizeof(Options)));
  return nullptr;
}

// Fills in as much as the caller's struct holds; fields that this library does not have are zero.
template <typename Info>
Outcome writeStruct(Info info, const char *name, Info *out) {
  if (!out)
    return invalid(std::string(name) + " is null");
  const size_t size = out->struct_size;
  COLL_EMBED_TRY(checkStructSize(size, name));
  info.struct_size = size;
  std::memset(static_cast<void *>(out), 0, size);
  std::memcpy(static_cast<void *>(out), &info, std::min(size, sizeof(Info)));
  return nullptr;
}

inline const char *orElse(const char *text, const char *otherwise) {
  return text ? text : otherwise;
}

} // namespace coll::embed

#endif // COLL_EMBED_C_STRUCTS_H
