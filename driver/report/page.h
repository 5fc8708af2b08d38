//===- page.h - the report as a page -------------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_PAGE_H
#define COLL_DRIVER_REPORT_PAGE_H

#include "driver/report/contents.h"

#include "llvm/Support/Error.h"

namespace coll::run {

/// One HTML document that needs nothing but itself.
std::string renderPage(const ReportContents &contents);

/// The file appears complete or not at all; on failure one that was there is unchanged.
llvm::Error writePage(llvm::StringRef path, const std::string &page);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_PAGE_H
