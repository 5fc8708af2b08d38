//===- analyzer.cc - analyses documents in the background ------------------------===//

#include "tools/coll-lsp-server/analyzer.h"

#include "compiler/untrusted_text.h"
#include "tools/coll-lsp-server/modes.h"
#include "tools/coll-lsp-server/worker.h"

namespace json = llvm::json;
using llvm::StringRef;

namespace coll::lsp {
namespace {

/// A diagnostic of the file as a whole.
json::Object makeDiagnostic(int64_t line, const llvm::Twine &message) {
  json::Value position = json::Object{{"line", line}, {"character", 0}};
  return json::Object{{"range", json::Object{{"start", position}, {"end", position}}},
                      {"severity", 1},
                      {"source", "coll"},
                      {"message", message.str()}};
}

/// Columns become the editor's.
json::Value toPublish(const std::string &uri, const Document &document, json::Value version,
                      json::Array diagnostics) {
  json::Value params = json::Object{{"uri", uri}, {"diagnostics", std::move(diagnostics)}};
  document.convertColumns(params, Document::Columns::Utf16, uri);
  if (version.getAsInteger())
    (*params.getAsObject())["version"] = std::move(version);
  return params;
}

/// Reads the output of analyze() in the worker.
std::vector<Hover> takeHovers(const json::Object &result) {
  std::vector<Hover> hovers;
  const json::Array &texts = *result.getArray("texts");
  for (const json::Value &value : *result.getArray("hovers")) {
    const json::Array &entry = *value.getAsArray();
    hovers.push_back({*entry[0].getAsInteger(), *entry[1].getAsInteger(), *entry[2].getAsInteger(),
                      texts[*entry[3].getAsInteger()].getAsString()->str()});
  }
  return hovers;
}

} // namespace

Analyzer::Analyzer(int64_t ranks, Publish publish)
    : ranks_(ranks), publish_(std::move(publish)), thread_([this] { run(); }) {}

Analyzer::~Analyzer() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Analyzer::update(const std::string &uri, const Document &document, json::Value version) {
  std::lock_guard<std::mutex> lock(mutex_);
  Entry &entry = entries_[uri];
  // A document that was just opened is analysed without a pause.
  entry.due = Clock::now() + (entry.edit ? kDebounce : std::chrono::milliseconds(0));
  entry.document = document;
  entry.version = std::move(version);
  entry.edit = ++edits_;
  changed_.notify_all();
}

void Analyzer::close(const std::string &uri) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (entries_.erase(uri))
    publish_(json::Object{{"uri", uri}, {"diagnostics", json::Array()}});
  changed_.notify_all();
}

std::optional<Hover> Analyzer::findHover(const std::string &uri, int64_t line, int64_t column) {
  std::unique_lock<std::mutex> lock(mutex_);
  auto found = entries_.find(uri);
  if (found == entries_.end())
    return std::nullopt;
  Entry &entry = found->second;
  entry.due = Clock::now();
  changed_.notify_all();
  changed_.wait_for(lock, kQuestionDeadline, [&] { return entry.analysed == entry.edit; });
  if (entry.analysed != entry.edit)
    return std::nullopt;
  for (const Hover &hover : entry.hovers)
    if (hover.line == line && hover.start <= column && column <= hover.end)
      return hover;
  return std::nullopt;
}

std::optional<std::string> Analyzer::waitForWork(std::unique_lock<std::mutex> &lock) {
  while (!ends_) {
    const std::pair<const std::string, Entry> *next = nullptr;
    for (const auto &entry : entries_)
      if (entry.second.analysed != entry.second.edit &&
          (!next || entry.second.due < next->second.due))
        next = &entry;
    if (!next)
      changed_.wait(lock);
    else if (next->second.due <= Clock::now())
      return next->first;
    else
      changed_.wait_until(lock, next->second.due);
  }
  return std::nullopt;
}

void Analyzer::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (std::optional<std::string> uri = waitForWork(lock)) {
    Document document = entries_[*uri].document;
    uint64_t edit = entries_[*uri].edit;
    auto isCurrent = [&] {
      auto found = entries_.find(*uri);
      return !ends_ && found != entries_.end() && found->second.edit == edit;
    };
    lock.unlock();
    std::optional<Result> result = analyze(*uri, document, [&] {
      std::lock_guard<std::mutex> guard(mutex_);
      return !isCurrent();
    });
    lock.lock();
    if (!result || !isCurrent())
      continue;
    Entry &entry = entries_[*uri];
    entry.analysed = edit;
    entry.hovers = std::move(result->hovers);
    publish_(toPublish(*uri, document, entry.version, std::move(result->diagnostics)));
    changed_.notify_all();
  }
}

std::optional<Analyzer::Result> Analyzer::analyze(const std::string &uri, const Document &document,
                                                  llvm::function_ref<bool()> cancelled) {
  Result result;
  if (auto line = mlir::coll::findDeepNesting(document.text())) {
    result.diagnostics.push_back(makeDiagnostic(*line - 1, "brackets nest too deep to be parsed"));
    return result;
  }
  WorkerOutput output = runWorker({kAnalysisMode.str(), uri, std::to_string(ranks_)},
                                  document.text(), kAnalysisDeadline, cancelled);
  if (cancelled())
    return std::nullopt;
  for (StringRef rest = output.text; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    llvm::Expected<json::Value> finding = json::parse(line);
    if (!finding)
      llvm::consumeError(finding.takeError());
    else if (finding->getAsObject()->get("hovers"))
      result.hovers = takeHovers(*finding->getAsObject());
    else
      result.diagnostics.push_back(std::move(*finding));
  }
  if (!output.failure.empty())
    result.diagnostics.push_back(makeDiagnostic(0, "the analysis of this text " + output.failure));
  return result;
}

} // namespace coll::lsp
