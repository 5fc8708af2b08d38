#include "runtime/step/device/gpu/choices.h"

#include "runtime/base/env.h"
#include "runtime/base/fd.h"
#include "runtime/base/log.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coll::rt {

namespace {

constexpr size_t kWords = std::size(dl::LtAlgorithm{}.data);

std::string hexOf(const dl::LtAlgorithm &algorithm) {
  std::string text;
  for (uint64_t word : algorithm.data) {
    char digits[17];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(word));
    text += digits;
  }
  return text;
}

std::optional<dl::LtAlgorithm> algorithmOf(const std::string &hex) {
  constexpr size_t kDigits = 16;
  if (hex.size() != kWords * kDigits ||
      hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    return std::nullopt;
  dl::LtAlgorithm algorithm;
  for (size_t i = 0; i < kWords; ++i)
    algorithm.data[i] = std::stoull(hex.substr(i * kDigits, kDigits), nullptr, kDigits);
  return algorithm;
}

// The text with only characters that are allowed in a file name.
std::string plain(std::string text) {
  for (char &letter : text)
    if (!std::isalnum(static_cast<unsigned char>(letter)))
      letter = '-';
  return text;
}

} // namespace

std::shared_ptr<AlgorithmChoices> AlgorithmChoices::of(const std::string &kind,
                                                       const std::string &gpuName, size_t version) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<AlgorithmChoices>> all;
  const std::string folder = cacheFolder();
  const std::string path =
      folder.empty() ? ""
                     : folder + "/" + kind + "-" + plain(gpuName) + "-" + std::to_string(version);
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<AlgorithmChoices> &choices =
      all[path + " " + kind + " " + gpuName + " " + std::to_string(version)];
  if (!choices)
    choices = std::make_shared<AlgorithmChoices>(path);
  return choices;
}

AlgorithmChoices::AlgorithmChoices(std::string path) : path_(std::move(path)) {
  std::lock_guard<std::mutex> lock(mutex_);
  readLocked();
}

std::optional<dl::LtAlgorithm> AlgorithmChoices::find(const std::string &key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = all_.find(key);
  return it == all_.end() ? std::nullopt : std::optional(it->second);
}

dl::LtAlgorithm AlgorithmChoices::add(const std::string &key, const dl::LtAlgorithm &algorithm) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (path_.empty())
    return all_.emplace(key, algorithm).first->second;
  (void)mkdir(path_.substr(0, path_.rfind('/')).c_str(), S_IRWXU);
  // Other processes add choices, too: the lock covers reading and writing.
  Fd guard(open((path_ + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (guard.get() < 0 || flock(guard.get(), LOCK_EX) != 0) {
    log(LogLevel::Debug, "choices of algorithms are not kept: cannot lock " + path_);
    return all_.emplace(key, algorithm).first->second;
  }
  readLocked();
  auto [it, isNew] = all_.emplace(key, algorithm);
  if (isNew)
    writeLocked();
  return it->second;
}

// Choices that the process has already made are kept.
void AlgorithmChoices::readLocked() {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, hex;
    words >> key >> hex;
    if (std::optional<dl::LtAlgorithm> algorithm = algorithmOf(hex))
      all_.emplace(key, *algorithm);
  }
}

void AlgorithmChoices::writeLocked() const {
  const std::string unfinished = path_ + ".unfinished";
  std::ofstream file(unfinished, std::ios::trunc);
  for (const auto &[key, algorithm] : all_)
    file << key << ' ' << hexOf(algorithm) << '\n';
  file.close();
  if (!file || std::rename(unfinished.c_str(), path_.c_str()) != 0)
    log(LogLevel::Debug, "choices of algorithms are not kept: cannot write " + path_);
}

} // namespace coll::rt
