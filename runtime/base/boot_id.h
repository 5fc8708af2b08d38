// boot_id.h - which running kernel this is.

#ifndef COLL_RUNTIME_BASE_BOOT_ID_H
#define COLL_RUNTIME_BASE_BOOT_ID_H

#include <fstream>
#include <string>

namespace coll::rt {

// The same for all processes of one machine, also in containers and network namespaces, whose host
// names differ. It changes with each boot. 36 characters; empty if the kernel does not report one.
inline std::string bootId() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_BOOT_ID_H
