//===- page.h - the report as a page -------------------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_REPORT_PAGE_H
#define COLL_TOOLS_COLL_RUN_REPORT_PAGE_H

#include "tools/coll-run/report/contents.h"

#include "llvm/Support/Error.h"

namespace coll::run {

/// One HTML document that needs nothing but itself.
std::string renderPage(const ReportContents &contents);

/// The file appears complete or not at all; on failure one that was there is unchanged.
llvm::Error writePage(llvm::StringRef path, const std::string &page);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_REPORT_PAGE_H
