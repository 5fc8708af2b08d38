//===- page.h - the report as a page -------------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_PAGE_H
#define COLL_DRIVER_REPORT_PAGE_H

#include "driver/report/contents.h"

#include "llvm/Support/Error.h"

namespace coll::run {

/// One HTML document that loads no other file.
std::string renderPage(const ReportContents &contents);

/// Writes the page of a run that begins. An earlier page at the path is kept as PATH.previous until
/// endPage(). The file appears complete or not at all; on failure an earlier one is unchanged.
llvm::Error beginPage(llvm::StringRef path, const std::string &page);
/// Writes the last page of a run. If that fails, on a full disk say, the earlier page takes its
/// place again.
llvm::Error endPage(llvm::StringRef path, const std::string &page);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_PAGE_H
