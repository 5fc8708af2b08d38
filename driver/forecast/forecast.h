//===- forecast.h - what a step needs and sends, before it runs ---------*- C++ -*-===//
//
// From the descriptors of compiled code and the compiler's explanation. Nothing is linked or
// started.
//
//===------------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_FORECAST_FORECAST_H
#define COLL_DRIVER_FORECAST_FORECAST_H

#include "compiler/explanation.h"
#include "passes/export/jit/object_code.h"
#include "runtime/step/rank_memory.h"

#include "llvm/Support/raw_ostream.h"

namespace coll::run {

struct Forecast {
  std::string step;     // as the user named it
  std::string strategy; // as the user named it; may be empty
  std::vector<rt::Descriptor> classes;
  Explanation explanation;

  const rt::Descriptor &descriptor() const { return classes.front(); }
  /// The step's arguments in order: the stages of a pipeline have some of them each.
  std::vector<const rt::TensorInfo *> args() const;
};

/// An error if a descriptor is damaged.
llvm::Expected<Forecast> makeForecast(const mlir::coll::ObjectCode &code,
                                      const Explanation &explanation);

/// `[dp+tp, -]`: the form that --shard takes.
std::string describeSharding(const rt::TensorInfo &info);

/// The whole report: mesh, arguments, collectives, memory, times.
void printPlan(llvm::raw_ostream &os, const Forecast &forecast);
/// The collectives, each with its reason, beside the reasons alone.
void printCollectives(llvm::raw_ostream &os, const Forecast &forecast);
/// The same as JSON, in the form of driver/forecast/README.md.
llvm::json::Value toJSON(const Forecast &forecast);
/// Writes that to a file.
llvm::Error writeForecast(const std::string &path, const Forecast &forecast);

/// Refuses a step of which a rank needs more than `limit` bytes; the error names its largest
/// buffers.
llvm::Error checkMemoryLimit(const Forecast &forecast, int64_t limit);

} // namespace coll::run

#endif // COLL_DRIVER_FORECAST_FORECAST_H
