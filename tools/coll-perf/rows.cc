#include "tools/coll-perf/rows.h"

#include "tools/coll-perf/output.h"
#include "tools/coll-perf/units.h"

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

namespace coll::perf {

namespace {

double rounded(double value) {
  if (value == 0)
    return 0;
  double scale = std::pow(10, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

std::string today() {
  std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &parts);
  return text;
}

} // namespace

double Row::ratio() const {
  if (peer == 0 || ours == 0)
    return 0;
  return higherIsBetter ? ours / peer : peer / ours;
}

rt::Status appendRows(const std::string &path, const std::string &command,
                      const std::vector<Row> &rows) {
  std::string text;
  for (const Row &row : rows) {
    nlohmann::ordered_json json;
    json["machine"] = machineName();
    json["date"] = today();
    json["command"] = command;
    json["case"] = row.caseName;
    json["size"] = row.size;
    json["metric"] = row.metric;
    json["ours"] = rounded(row.ours);
    json["peer"] = row.peer ? nlohmann::ordered_json(rounded(row.peer)) : nullptr;
    json["peer_name"] = row.peer ? nlohmann::ordered_json(row.peerName) : nullptr;
    json["ratio"] = row.peer ? nlohmann::ordered_json(rounded(row.ratio())) : nullptr;
    for (const auto &[name, value] : row.more)
      json[name] = rounded(value);
    text += json.dump(-1, ' ', /*ensure_ascii=*/false,
                      nlohmann::ordered_json::error_handler_t::replace) +
            '\n';
  }
  return appendToFile(path, text);
}

} // namespace coll::perf
