//===- page.cc - the report as a page --------------------------------------------===//

#include "driver/report/page.h"

#include "compiler/error.h"
#include "driver/npz.h"
#include "driver/report/data.h"
#include "driver/report/templates.h"
#include "driver/report/view.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Mustache.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

namespace coll::run {

std::string renderPage(const ReportContents &contents) {
  Analysis analysis = analyse(contents);
  llvm::json::Object view = makeView(contents, analysis);
  view["style"] = kTemplateStyle.str();
  view["script"] = kTemplateScript.str();
  view["data"] = writeForScript(makeData(contents, analysis));
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::mustache::MustacheContext context(allocator, saver);
  llvm::mustache::Template page(kTemplatePage, context);
  for (const auto &[name, text] : kTemplateParts)
    page.registerPartial(name.str(), text.str());
  std::string html;
  llvm::raw_string_ostream os(html);
  page.render(std::move(view), os);
  return html;
}

static std::error_code writeTo(llvm::StringRef path, const std::string &page) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code, llvm::sys::fs::CD_CreateAlways);
  if (code)
    return code;
  os << page;
  os.close();
  code = os.error();
  os.clear_error();
  return code;
}

llvm::Error writePage(llvm::StringRef path, const std::string &page) {
  namespace fs = llvm::sys::fs;
  if (llvm::Error error = checkWritable(path))
    return error;
  // A link stays one.
  llvm::SmallString<256> target;
  if (fs::real_path(path, target))
    target = path;
  std::string temporary = (target + "." + llvm::Twine(getpid()) + ".part").str();
  std::error_code code = writeTo(temporary, page);
  if (!code)
    code = fs::rename(temporary, target);
  if (!code)
    return llvm::Error::success();
  fs::remove(temporary);
  return makeError("cannot write the report '" + path + "': " + code.message());
}

} // namespace coll::run
