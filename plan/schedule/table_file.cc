// Schedules from table files (parseSchedule).

#include "plan/schedule/schedule.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace coll::plan {

namespace {

constexpr int kMaxNumber = 1 << 20;

std::vector<std::string_view> splitWords(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r";
  for (size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool parseNumber(std::string_view text, int &number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number <= kMaxNumber;
}

bool parseEntry(std::string_view word, ScheduleEntry &entry) {
  constexpr std::string_view kLetters = "FBIW";
  const size_t dot = word.find('.');
  const size_t letter = word.empty() ? std::string_view::npos : kLetters.find(word[0]);
  if (letter == std::string_view::npos || dot == std::string_view::npos)
    return false;
  entry.work = static_cast<StageWork>(letter);
  return parseNumber(word.substr(1, dot - 1), entry.chunk) &&
         parseNumber(word.substr(dot + 1), entry.microBatch);
}

class TableParser {
public:
  explicit TableParser(const std::string &file) : file_(file) {}

  // Empty, or what is wrong.
  std::string parse(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      const std::string_view content = text.substr(0, end);
      std::string fault = parseLine(splitWords(content.substr(0, content.find('#'))));
      if (!fault.empty())
        return file_ + ":" + std::to_string(line_) + ": " + fault;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return "";
  }

  std::map<int, std::vector<ScheduleEntry>> ranks;
  std::map<int, int> lines; // of the ranks
  int maxActivations = 0;
  int maxInFlight = 0;

private:
  std::string parseLine(const std::vector<std::string_view> &words) {
    if (words.empty())
      return "";
    if (words[0] == "rank")
      return parseRank(words);
    int *limit = words[0] == "activations" ? &maxActivations
                 : words[0] == "in-flight" ? &maxInFlight
                                           : nullptr;
    if (!limit)
      return "'" + std::string(words[0]) + "': expected rank, activations or in-flight";
    if (words.size() != 2 || !parseNumber(words[1], *limit) || *limit < 1)
      return std::string(words[0]) + " needs one number, from 1";
    return "";
  }

  std::string parseRank(const std::vector<std::string_view> &words) {
    int rank = 0;
    if (words.size() < 2 || words[1].back() != ':' ||
        !parseNumber(words[1].substr(0, words[1].size() - 1), rank))
      return "expected 'rank N:' and its entries, as in 'rank 0: F0.0 B0.0'";
    auto [entries, isNew] = ranks.try_emplace(rank);
    if (!isNew)
      return "rank " + std::to_string(rank) + " is there already, in line " +
             std::to_string(lines[rank]) + "; join the lines";
    lines[rank] = line_;
    for (size_t i = 2; i < words.size(); ++i) {
      ScheduleEntry entry;
      if (!parseEntry(words[i], entry))
        return "'" + std::string(words[i]) +
               "' is not an entry; expected F, B, I or W, a chunk, a dot and a micro-batch, as "
               "F0.3";
      entries->second.push_back(entry);
    }
    return "";
  }

  std::string file_;
  int line_ = 0;
};

} // namespace

Result<Schedule> parseSchedule(std::string_view text, const std::string &file, int numRanks,
                               int numMicroBatches) {
  TableParser table(file);
  if (std::string fault = table.parse(text); !fault.empty())
    return Error{fault};
  const std::string where = file + ": ";
  Schedule schedule;
  schedule.name = file;
  schedule.numMicroBatches = numMicroBatches;
  schedule.maxActivations = table.maxActivations;
  schedule.maxInFlight = table.maxInFlight;
  std::map<int, int> rankOf;
  for (int rank = 0; rank < numRanks; ++rank) {
    auto entries = table.ranks.find(rank);
    if (entries == table.ranks.end())
      return Error{where + "has no line for rank " + std::to_string(rank) + " of " +
                   std::to_string(numRanks) + "; add 'rank " + std::to_string(rank) +
                   ":' and its entries, as F0.0 B0.0"};
    for (const ScheduleEntry &entry : entries->second)
      rankOf.try_emplace(entry.chunk, rank);
    schedule.ranks.push_back(std::move(entries->second));
  }
  if (static_cast<int>(table.ranks.size()) > numRanks)
    return Error{
        where + "has lines for " + std::to_string(table.ranks.size()) +
        " ranks, the pipeline has " + std::to_string(numRanks) +
        " stages; leave lines out, or give --stages=" + std::to_string(table.ranks.size())};
  for (const auto &[chunk, rank] : rankOf) {
    if (chunk != schedule.numChunks)
      return Error{where + "has no entry of chunk " + std::to_string(schedule.numChunks) +
                   "; number the chunks from 0, without gaps"};
    schedule.rankOfChunk.push_back(rank);
    ++schedule.numChunks;
  }
  if (const ScheduleFault fault = findFault(schedule); !fault.text.empty())
    return Error{file + ":" + std::to_string(table.lines[fault.rank]) + ": " + fault.text};
  return schedule;
}

} // namespace coll::plan
