// units.h - byte counts, other numbers and machines in the form that people write.

#ifndef COLL_TOOLS_COLL_PERF_UNITS_H
#define COLL_TOOLS_COLL_PERF_UNITS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::perf {

// Parses "8", "64K", "1.5M", "2GiB"; the units are powers of 1024.
rt::Result<uint64_t> parseBytes(const std::string &text);
// Parses sizes separated by commas, in the given order; "4K..1M" stands for all powers of two
// between. kCollInvalidCall: the message says what is wrong.
rt::Result<std::vector<uint64_t>> parseSizes(const std::string &text);
// Returns, for example, "64 KiB"; the number of bytes if it is not a whole number of units.
std::string formatBytes(uint64_t bytes);

// Returns ok if the number of the command line is in the range, else an error; NaN is an error.
rt::Status checkRange(const char *flag, double value, double low, double high);

// Processor, cores that this process may use, memory and GPUs, in one line.
std::string machineName();

double median(std::vector<double> values);
// The value below which `fraction` of the values lie. 0 if there are none.
double quantile(std::vector<double> values, double fraction);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_UNITS_H
