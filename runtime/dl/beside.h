// beside.h - symbols of the library that a known function or object is part of.

#ifndef COLL_RUNTIME_DL_BESIDE_H
#define COLL_RUNTIME_DL_BESIDE_H

#include <string>

namespace coll::rt::dl {

// The path of that library or program, as the loader knows it; empty where none holds the address.
std::string fileOf(const void *address);

void *findBeside(const void *address, const char *name);

// The symbol `name` of the library that holds `address`; null where that library does not export
// it, or none holds the address. Nothing is loaded.
template <typename T>
T *symbolBeside(const void *address, const char *name) {
  return reinterpret_cast<T *>(findBeside(address, name));
}

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_BESIDE_H
