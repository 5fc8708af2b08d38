// library.h - a shared library that stays loaded, and its symbols.

#ifndef COLL_RUNTIME_DL_LIBRARY_H
#define COLL_RUNTIME_DL_LIBRARY_H

#include "runtime/base/status.h"

#include <string>

namespace coll::rt::dl {

// A reference to a loaded library. Copies share the reference, and close() drops it once.
class Library {
public:
  // `path` as dlopen takes it. kCollUnsupported with the loader's reason.
  static Result<Library> open(const std::string &path);
  // The program itself, and what it is linked with.
  static Result<Library> program();
  // Null if the library has no such symbol. `T` is the symbol's type.
  template <typename T>
  T *symbol(const char *name) const {
    return reinterpret_cast<T *>(find(name));
  }
  // Whether the loader succeeded. The symbols must not be used afterwards.
  bool close();

private:
  explicit Library(void *handle) : handle_(handle) {}
  void *find(const char *name) const;
  void *handle_;
};

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_LIBRARY_H
