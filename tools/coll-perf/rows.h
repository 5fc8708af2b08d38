// rows.h - rows of measurements, in the format of test/perf/*.jsonl.

#ifndef COLL_TOOLS_COLL_PERF_ROWS_H
#define COLL_TOOLS_COLL_PERF_ROWS_H

#include "runtime/base/status.h"

#include <string>
#include <utility>
#include <vector>

namespace coll::perf {

struct Row {
  std::string caseName; // "tcp 16 connections x 4 sockets, 8 in flight"
  std::string size;     // "64 KiB"
  std::string metric;   // "GB/s one way"
  double ours = 0;
  double peer = 0; // 0: none
  std::string peerName;
  bool higherIsBetter = true; // the ratio is above 1 where ours is better
  std::vector<std::pair<std::string, double>> more;

  // 0 if there is no peer.
  double ratio() const;
};

// Appends one JSON object per line, with the machine, the date and the command.
rt::Status appendRows(const std::string &path, const std::string &command,
                      const std::vector<Row> &rows);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_ROWS_H
