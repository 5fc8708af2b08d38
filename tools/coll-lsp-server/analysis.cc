//===- analysis.cc - diagnostics and hovers of a file ----------------------------===//

#include "tools/coll-lsp-server/analysis.h"

#include "dialect/dialect.h"
#include "passes/passes.h"
#include "tools/coll-lsp-server/hovers.h"
#include "tools/coll-lsp-server/words.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::coll;
namespace json = llvm::json;

namespace coll::lsp {
namespace {

/// Severities of the protocol.
enum Severity : int64_t { kError = 1, kWarning = 2, kInformation = 3 };

struct Findings {
  llvm::raw_ostream &out;
  json::Array texts, hovers;
  llvm::StringMap<int64_t> textNumbers;
};

/// One part of a file.
class PartAnalysis {
public:
  PartAnalysis(StringRef text, int64_t firstLine, StringRef uri, Findings &findings)
      : firstLine_(firstLine), uri_(uri), findings_(findings) {
    registerCollDialects(registry_);
    context_.emplace(registry_, MLIRContext::Threading::DISABLED);
    context_->allowUnregisteredDialects();
    sources_.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, kSelf), llvm::SMLoc());
  }

  void run(int64_t ranks) {
    ScopedDiagnosticHandler handler(&*context_, [&](Diagnostic &d) { report(d); });
    Block block;
    AsmParserState state;
    // The module is verified below, not while parsing: only then do errors have a position in the
    // text, whatever `loc` the text gives.
    ParserConfig config(&*context_, /*verifyAfterParse=*/false);
    if (failed(parseAsmSourceFile(sources_, &block, config, &state)) || block.empty())
      return;
    OwningOpRef<ModuleOp> module = takeModule(block);
    marks_.emplace(*module, state);
    if (failed(verify(*module)))
      return;
    verifyRanks(*module);
    // Errors of the compiler are reported as warnings: they need not be errors in the file.
    severity_ = kWarning;
    Inference inference(*module, *marks_, ranks);
    collectHovers(*marks_, state, inference, [&](ArrayRef<llvm::SMRange> ranges, std::string text) {
      for (llvm::SMRange range : ranges)
        addHover(range, text);
    });
  }

private:
  /// The text's module, or a module around the operations of the text.
  static OwningOpRef<ModuleOp> takeModule(Block &block) {
    if (!block.empty() && &block.front() == &block.back())
      if (auto module = dyn_cast<ModuleOp>(block.front())) {
        module->remove();
        return module;
      }
    auto module = ModuleOp::create(UnknownLoc::get(block.front().getContext()));
    module.getBody()->getOperations().splice(module.getBody()->begin(), block.getOperations());
    return module;
  }

  void verifyRanks(ModuleOp module) {
    auto isCommunication = [](Operation *op) {
      return isa<ProgramOp, CollectiveOpInterface>(op) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
    };
    if (!module->walk(isCommunication).wasInterrupted())
      return;
    PassManager passes = PassManager::on<ModuleOp>(&*context_);
    passes.addPass(createVerifyRanksPass());
    // Its findings are the diagnostics.
    (void)passes.run(module);
  }

  llvm::SMRange findRange(Location location) {
    if (std::optional<size_t> mark = marks_ ? marks_->find(location) : std::nullopt)
      return marks_->all()[*mark].range;
    llvm::SMRange range;
    location->walk([&](Location inner) {
      auto place = dyn_cast<FileLineColLoc>(inner);
      if (!place || place.getFilename().getValue() != kSelf)
        return WalkResult::advance();
      llvm::SMLoc start = sources_.FindLocForLineAndColumn(sources_.getMainFileID(),
                                                           place.getLine(), place.getColumn());
      if (start.isValid())
        range = AsmParserState::convertIdLocToRange(start);
      return WalkResult::interrupt();
    });
    return range;
  }

  /// The first position of the part if the location says nothing.
  json::Object toRange(Location location) {
    llvm::SMRange range = findRange(location);
    auto position = [&](llvm::SMLoc loc) {
      auto [line, column] = range.isValid() ? sources_.getLineAndColumn(loc) : std::pair(1u, 1u);
      return json::Object{{"line", firstLine_ + line - 1}, {"character", column - 1}};
    };
    return json::Object{{"start", position(range.Start)}, {"end", position(range.End)}};
  }

  void report(Diagnostic &diagnostic) {
    json::Array related;
    for (Diagnostic &note : diagnostic.getNotes())
      related.push_back(json::Object{
          {"location", json::Object{{"uri", uri_}, {"range", toRange(note.getLocation())}}},
          {"message", note.str()}});
    DiagnosticSeverity severity = diagnostic.getSeverity();
    // Flushed at once: the parser may crash after it has reported an error.
    findings_.out << json::Value(json::Object{
                         {"range", toRange(diagnostic.getLocation())},
                         {"severity",
                          int64_t(severity == DiagnosticSeverity::Error     ? severity_
                                  : severity == DiagnosticSeverity::Warning ? kWarning
                                                                            : kInformation)},
                         {"source", "coll"},
                         {"message", diagnostic.str()},
                         {"relatedInformation", std::move(related)}})
                  << "\n";
    findings_.out.flush();
  }

  void addHover(llvm::SMRange range, const std::string &text) {
    if (!range.isValid())
      return;
    auto [entry, isNew] = findings_.textNumbers.try_emplace(text, findings_.texts.size());
    if (isNew)
      findings_.texts.push_back(text);
    auto [line, column] = sources_.getLineAndColumn(range.Start);
    int64_t length = range.End.getPointer() - range.Start.getPointer();
    findings_.hovers.push_back(
        json::Array{firstLine_ + line - 1, column - 1, column - 1 + length, entry->second});
  }

  int64_t firstLine_;
  StringRef uri_;
  Findings &findings_;
  DialectRegistry registry_;
  std::optional<MLIRContext> context_;
  llvm::SourceMgr sources_;
  std::optional<Marks> marks_;
  Severity severity_ = kError;
};

} // namespace

void analyze(StringRef text, StringRef uri, int64_t ranks, llvm::raw_ostream &out) {
  Findings findings{out, {}, {}, {}};
  SmallVector<StringRef> parts;
  text.split(parts, kDefaultSplitMarker);
  int64_t line = 0;
  for (StringRef part : parts) {
    PartAnalysis(part, line, uri, findings).run(ranks);
    line += part.count('\n');
  }
  out << json::Value(json::Object{{"texts", std::move(findings.texts)},
                                  {"hovers", std::move(findings.hovers)}})
      << "\n";
  out.flush();
}

} // namespace coll::lsp
