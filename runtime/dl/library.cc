#include "runtime/dl/library.h"

#include <dlfcn.h>

namespace coll::rt::dl {

Result<Library> Library::open(const std::string &path) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return Status(kCollUnsupported, reason ? reason : path + " cannot be loaded");
  }
  return Library(handle);
}

Result<Library> Library::program() {
  void *handle = dlopen(nullptr, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status(kCollUnsupported, "the program's own symbols cannot be looked up");
  return Library(handle);
}

bool Library::close() { return dlclose(handle_) == 0; }

void *Library::find(const char *name) const { return dlsym(handle_, name); }

} // namespace coll::rt::dl
