//===- stages.cc - the IR of every level, as files ------------------------------===//

#include "compiler/stages.h"

#include "compiler/error.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace coll::run {
namespace {

std::string printModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Locations stay, so that a run of the file names the same source lines.
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  os << '\n';
  return text;
}

class StageInstrumentation : public mlir::PassInstrumentation {
public:
  explicit StageInstrumentation(StageWriter &writer) : writer_(writer) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    auto module = llvm::dyn_cast<mlir::ModuleOp>(op);
    if (!module || module->getParentOp())
      return;
    llvm::StringRef stem = pass->getArgument();
    if (stem.consume_front("coll-"))
      writer_.begin(stem, module);
    else
      writer_.refine(module);
  }

private:
  StageWriter &writer_;
};

} // namespace

llvm::Expected<std::unique_ptr<StageWriter>> StageWriter::create(llvm::StringRef folder) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return makeError("cannot create folder '" + folder + "': " + code.message());
  return std::unique_ptr<StageWriter>(new StageWriter(folder));
}

void StageWriter::begin(llvm::StringRef stem, mlir::ModuleOp module) {
  std::string text = printModule(module);
  if (text == text_)
    return;
  llvm::StringRef zero = count_ < 10 ? "0" : "";
  std::string name = (zero + llvm::Twine(count_++) + "-" + stem).str();
  if (kept_) {
    kept_->push_back({name, ""});
    current_ = name;
  } else {
    llvm::SmallString<256> path(folder_);
    llvm::sys::path::append(path, name + ".mlir");
    current_ = path.str();
  }
  write(std::move(text));
}

void StageWriter::refine(mlir::ModuleOp module) {
  std::string text = printModule(module);
  if (!current_.empty() && text != text_)
    write(std::move(text));
}

void StageWriter::write(std::string text) {
  if (!error_.empty())
    return;
  text_ = std::move(text);
  if (kept_) {
    kept_->back().text = text_;
    return;
  }
  std::error_code code;
  llvm::raw_fd_ostream file(current_, code);
  if (!code) {
    file << text_;
    file.close();
    code = file.error();
    file.clear_error();
    if (code) // half of it is there
      llvm::sys::fs::remove(current_);
  }
  if (code)
    error_ = "cannot write '" + current_ + "': " + code.message();
}

std::unique_ptr<mlir::PassInstrumentation> StageWriter::makeInstrumentation() {
  return std::make_unique<StageInstrumentation>(*this);
}

llvm::Error StageWriter::takeError() const {
  return error_.empty() ? llvm::Error::success() : makeError(error_);
}

} // namespace coll::run
