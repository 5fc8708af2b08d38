//===- templates.h - the page's parts -------------------------------------*- C++ -*-===//
//
// The texts are the files of templates/, which the build makes into C++ (embed.cmake).
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_REPORT_TEMPLATES_H
#define COLL_DRIVER_REPORT_TEMPLATES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <utility>

namespace coll::run {

extern const llvm::StringRef kTemplatePage, kTemplateStyle, kTemplateScript;

/// Partial templates, by the name of their file.
extern const llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> kTemplateParts;

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_TEMPLATES_H
