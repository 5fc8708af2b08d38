#include "runtime/dl/beside.h"

#include <dlfcn.h>

namespace coll::rt::dl {

std::string fileOf(const void *address) {
  Dl_info info{};
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

void *findBeside(const void *address, const char *name) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname)
    return nullptr;
  void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return nullptr;
  void *symbol = dlsym(library, name);
  dlclose(library); // only drops this reference: the library stays loaded
  return symbol;
}

} // namespace coll::rt::dl
