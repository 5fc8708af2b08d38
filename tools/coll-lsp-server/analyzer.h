//===- analyzer.h - analyses documents in the background --------------*- C++ -*-===//
//
// One thread analyses the documents that changed, each a moment after the last change.
// A change ends the analysis of the text before it.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_ANALYZER_H
#define COLL_TOOLS_COLL_LSP_SERVER_ANALYZER_H

#include "tools/coll-lsp-server/document.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace coll::lsp {

/// A text to show at a range of one line; columns are bytes.
struct Hover {
  int64_t line, start, end;
  std::string text;
};

class Analyzer {
public:
  /// Params of publishDiagnostics. Called on the analyzer's thread, and for a document
  /// that closes on the caller's.
  using Publish = std::function<void(llvm::json::Value)>;

  Analyzer(int64_t ranks, Publish publish);
  /// Ends the running analysis.
  ~Analyzer();

  void update(const std::string &uri, const Document &document, llvm::json::Value version);
  void close(const std::string &uri);

  /// The hover at a position of the document as it is now. Waits until the text is analysed, at
  /// most as long as an editor waits for an answer.
  std::optional<Hover> findHover(const std::string &uri, int64_t line, int64_t column);

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Document document;
    llvm::json::Value version = nullptr;
    uint64_t edit = 0;     ///< number of its last change
    uint64_t analysed = 0; ///< the change whose analysis `hovers` are
    Clock::time_point due;
    std::vector<Hover> hovers;
  };
  struct Result {
    llvm::json::Array diagnostics;
    std::vector<Hover> hovers;
  };

  void run();
  /// The document to analyse next; waits for one. Empty when the analyzer ends.
  std::optional<std::string> waitForWork(std::unique_lock<std::mutex> &lock);
  /// Nullopt if it was cancelled.
  std::optional<Result> analyze(const std::string &uri, const Document &document,
                                llvm::function_ref<bool()> cancelled);

  int64_t ranks_;
  Publish publish_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Entry> entries_;
  uint64_t edits_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_ANALYZER_H
