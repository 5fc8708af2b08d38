#include "runtime/base/path_pattern.h"

#include <unistd.h>

namespace coll::rt {

std::string expandPath(const std::string &pattern,
                       std::initializer_list<std::pair<char, std::string>> fields) {
  const auto textOf = [&](char letter) -> const std::string * {
    for (const auto &[name, text] : fields)
      if (name == letter)
        return &text;
    return nullptr;
  };
  const std::string process = std::to_string(::getpid());
  std::string path;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : 0;
    const std::string *text = next == 'p' ? &process : textOf(next);
    if (next == 0 || !text) {
      path += pattern[i];
      continue;
    }
    path += *text;
    ++i;
  }
  return path;
}

} // namespace coll::rt
