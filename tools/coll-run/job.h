//===- job.h - this process among the processes of a job ---------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_JOB_H
#define COLL_TOOLS_COLL_RUN_JOB_H

#include "driver/place.h"
#include "driver/report/report.h"
#include "tools/coll-run/options.h"

namespace coll::run {

/// The place that a launcher (mpirun, srun, torchrun) has given this process, or none if there is
/// no launcher, or this process runs or starts all ranks itself.
llvm::Expected<Place> findPlace(const Options &options);

/// The page that --report asks for.
ReportOptions describeReport(const Options &options);

/// Says why the process ends with an error: to the process that started it, or to the
/// user.
void reportError(const Place &place, const std::string &message);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_JOB_H
