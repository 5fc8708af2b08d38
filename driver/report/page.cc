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

namespace fs = llvm::sys::fs;

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

/// The file that the path leads to, so that a link stays a link.
static std::string resolve(llvm::StringRef path) {
  llvm::SmallString<256> target;
  return fs::real_path(path, target) ? path.str() : target.str().str();
}

static std::string previousOf(const std::string &target) { return target + ".previous"; }

/// Writes a temporary file beside the target first, so that a failed write replaces no page.
static llvm::Error writePage(const std::string &target, const std::string &page) {
  if (llvm::Error error = checkWritable(target))
    return error;
  std::string temporary = (target + "." + llvm::Twine(getpid()) + ".part").str();
  std::error_code code = writeTo(temporary, page);
  if (!code)
    code = fs::rename(temporary, target);
  if (!code)
    return llvm::Error::success();
  fs::remove(temporary);
  return makeError("cannot write the report '" + target + "': " + code.message());
}

llvm::Error beginPage(llvm::StringRef path, const std::string &page) {
  const std::string target = resolve(path), previous = previousOf(target);
  fs::remove(previous);
  if (fs::exists(target))
    fs::create_hard_link(target, previous); // where the file system has none, nothing is kept
  llvm::Error error = writePage(target, page);
  if (error)
    fs::remove(previous);
  return error;
}

llvm::Error endPage(llvm::StringRef path, const std::string &page) {
  const std::string target = resolve(path), previous = previousOf(target);
  llvm::Error error = writePage(target, page);
  if (!error)
    fs::remove(previous);
  else if (fs::exists(previous) && !fs::rename(previous, target))
    return llvm::joinErrors(std::move(error),
                            makeError("'" + path + "' is the page of an earlier run"));
  return error;
}

} // namespace coll::run
