// beside.h - symbols of a library that is loaded already, found by an address in it.

#ifndef COLL_RUNTIME_DL_BESIDE_H
#define COLL_RUNTIME_DL_BESIDE_H

#include <string>

namespace coll::rt::dl {

// The path of the library or program that holds the address, as the loader knows it; empty if none
// does.
std::string fileOf(const void *address);

void *findBeside(const void *address, const char *name);

// The symbol `name` of the library that holds `address`; null if that library does not export it,
// or if no library holds the address. Loads nothing.
template <typename T>
T *symbolBeside(const void *address, const char *name) {
  return reinterpret_cast<T *>(findBeside(address, name));
}

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_BESIDE_H
