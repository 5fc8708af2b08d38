// thread_places.h - places the threads of a measured rank on processors.

#ifndef COLL_TEST_GPU_THREAD_PLACES_H
#define COLL_TEST_GPU_THREAD_PLACES_H

#include "runtime/base/status.h"

#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace coll {

// The `process`-th of `processes` gets its share of the processors that this one may use. The
// calling thread and NCCL's progress threads get one each, whose neighbour, possibly of the same
// core, stays unused; all other threads share the rest. Call it after the communicator is made.
class ThreadPlaces {
public:
  static rt::Status take(int process, int processes) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
      return rt::Status::invalid("sched_getaffinity failed");
    std::vector<int> mine;
    const int share = CPU_COUNT(&allowed) / processes;
    for (int cpu = 0, number = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed) && number++ / std::max(share, 1) == process)
        mine.push_back(cpu);
    if (mine.size() < 6)
      return rt::Status::invalid("--pin needs 6 processors for each process");
    size_t next = 0;
    pin(gettid(), {mine.begin(), mine.begin() + 1});
    next += 2;
    DIR *tasks = opendir("/proc/self/task");
    for (dirent *entry = tasks ? readdir(tasks) : nullptr; entry; entry = readdir(tasks)) {
      const pid_t thread = std::atoi(entry->d_name);
      if (thread <= 0 || thread == gettid())
        continue;
      const bool isProgress =
          nameOf(thread).rfind("NCCL Progress", 0) == 0 && next + 2 < mine.size();
      pin(thread,
          isProgress ? std::vector<int>{mine[next]} : std::vector<int>{mine.end() - 2, mine.end()});
      next += isProgress ? 2 : 0;
    }
    if (tasks)
      closedir(tasks);
    return {};
  }

private:
  static std::string nameOf(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
  }
  static void pin(pid_t thread, const std::vector<int> &cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu : cpus)
      CPU_SET(cpu, &set);
    (void)sched_setaffinity(thread, sizeof(set), &set); // a thread that has ended needs none
  }
};

} // namespace coll

#endif // COLL_TEST_GPU_THREAD_PLACES_H
