#include "test/fuzz/ir/minimize.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace coll::fuzz {
namespace {

std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line + "\n");
  return lines;
}

std::string joinWithout(const std::vector<std::string> &lines, size_t from, size_t to) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i)
    if (i < from || i >= to)
      text += lines[i];
  return text;
}

} // namespace

std::string minimizeText(const std::string &text, int budget,
                         const std::function<bool(const std::string &)> &stillFails) {
  std::vector<std::string> lines = splitLines(text);
  for (size_t piece = std::max<size_t>(lines.size() / 2, 1); budget > 0; piece /= 2) {
    for (size_t from = 0; from < lines.size() && budget > 0;) {
      size_t to = std::min(from + piece, lines.size());
      --budget;
      if (stillFails(joinWithout(lines, from, to)))
        lines.erase(lines.begin() + long(from), lines.begin() + long(to));
      else
        from = to;
    }
    if (piece <= 1)
      break;
  }
  return joinWithout(lines, 0, 0);
}

} // namespace coll::fuzz
