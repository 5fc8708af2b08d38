// nccl_launch_options.h - the options of nccl-launch; nccl_launch.cc explains them.

#ifndef COLL_TEST_GPU_NCCL_LAUNCH_OPTIONS_H
#define COLL_TEST_GPU_NCCL_LAUNCH_OPTIONS_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace coll {

struct NcclLaunchOptions {
  int processes = 2, threads = 1;
  bool isOneHost = false, isLoop = false, isMpi = false, isPinned = false;
  std::vector<int64_t> sizes{1 << 20};
  int calls = 100, replays = 0, turns = 0;
  std::vector<std::string> plugins; // the library that switches, and what it switches between
  int numRanks() const { return processes * threads; }

  // Returns false if the argument is not an option of nccl-launch.
  bool parse(const char *argument) {
    auto value = [&](const char *name) {
      const size_t length = std::strlen(name);
      return std::strncmp(argument, name, length) == 0 ? argument + length : nullptr;
    };
    if (const char *text = value("--processes="))
      return (processes = std::atoi(text)) > 0;
    if (const char *text = value("--threads="))
      return (threads = std::atoi(text)) > 0;
    if (const char *text = value("--calls="))
      return (calls = std::atoi(text)) > 0;
    if (const char *text = value("--replays="))
      return (replays = std::atoi(text)) > 0;
    if (const char *text = value("--turns="))
      return (turns = std::atoi(text)) > 0;
    if (const char *text = value("--switch=")) {
      std::string word;
      for (std::istringstream words(text); std::getline(words, word, ':');)
        plugins.push_back(word);
      return !plugins.empty();
    }
    if (const char *text = value("--bytes=")) {
      sizes.clear();
      for (char *end = nullptr; *text; text = *end ? end + 1 : end) {
        sizes.push_back(std::strtoll(text, &end, 10));
        if (sizes.back() < 4 || (*end && *end != ','))
          return false;
      }
      return !sizes.empty();
    }
    for (const auto &[name, isSet] :
         {std::pair("--one-host", &isOneHost), std::pair("--loop", &isLoop),
          std::pair("--mpi", &isMpi), std::pair("--pin", &isPinned)})
      if (std::strcmp(argument, name) == 0)
        return *isSet = true;
    return false;
  }
};

} // namespace coll

#endif // COLL_TEST_GPU_NCCL_LAUNCH_OPTIONS_H
