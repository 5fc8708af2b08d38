// machine.h - what this process may use of its machine: processors, caches, memory.

#ifndef COLL_RUNTIME_BASE_MACHINE_H
#define COLL_RUNTIME_BASE_MACHINE_H

#include <cstdint>
#include <sched.h>
#include <string>
#include <vector>

namespace coll::rt {

//===-- processors --------------------------------------------------------------===//

// A set of processors of any size, as system calls take it: cpu_set_t ends at 1,024.
class ProcessorSet {
public:
  // The processors that the calling thread may run on; empty if the kernel reports none.
  static ProcessorSet allowed();
  explicit ProcessorSet(const std::vector<int> &processors); // each is 0 or above

  std::vector<int> numbers() const; // ascending
  const cpu_set_t *data() const { return reinterpret_cast<const cpu_set_t *>(words_.data()); }
  size_t bytes() const { return words_.size() * sizeof(words_[0]); }

private:
  ProcessorSet() = default;
  std::vector<unsigned long> words_;
};

// How many processors the calling thread may run on; at least 1.
int numAllowedProcessors();

//===-- caches ------------------------------------------------------------------===//

// Bytes of the last-level caches of the allowed processors together. More data than this that is
// written once does not stay cached. `sysfs` is the folder of the processors.
int64_t cacheBytesOf(const std::vector<int> &processors, const std::string &sysfs);
// COLL_STREAM_BYTES or, if that is 0, the caches of the allowed processors. Constant.
int64_t cacheBytes();

//===-- memory ------------------------------------------------------------------===//

// The memory that the machine has.
int64_t physicalMemoryBytes();

struct MemoryLimit {
  int64_t bytes = INT64_MAX;
  std::string name; // "the machine's memory", "the cgroup's memory limit", "the address space …"
};

// The smallest memory.max (version 2) or memory.limit_in_bytes (version 1) of the groups that a
// text like /proc/self/cgroup names, and of the groups above them. INT64_MAX if none is set.
// `mount` is the folder of the groups: /sys/fs/cgroup.
int64_t cgroupMemoryBytes(const std::string &groups, const std::string &mount);

// What is left of RLIMIT_AS and RLIMIT_DATA; INT64_MAX if both are unlimited.
int64_t addressSpaceLeft();

// The smallest limit on what this process may still allocate in one piece: the machine's memory,
// its cgroup's, or the rest of its address space.
MemoryLimit memoryLimit();

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_MACHINE_H
