//===- server.cc - the conversation with an editor -------------------------------===//
//
// The thread that reads answers requests one after another, most of them by asking
// MLIR's server; the analyzer's thread publishes diagnostics.
//
//===----------------------------------------------------------------------------===//

#include "tools/coll-lsp-server/server.h"

#include "tools/coll-lsp-server/analyzer.h"
#include "tools/coll-lsp-server/document.h"
#include "tools/coll-lsp-server/input.h"
#include "tools/coll-lsp-server/mlir_server.h"

#include "compiler/untrusted_text.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/LSP/Transport.h"

#include <deque>

namespace json = llvm::json;
using llvm::StringRef;
using llvm::lsp::ErrorCode;
using llvm::lsp::LSPError;

namespace coll::lsp {
namespace {

/// Parameters as they came: requests for MLIR's server are passed on unread.
struct Raw {
  json::Value value = nullptr;
};
bool fromJSON(const json::Value &value, Raw &raw, json::Path) {
  raw.value = value;
  return true;
}

using Reply = llvm::lsp::Callback<json::Value>;

std::string uriOf(const Raw &params) {
  const json::Object *object = params.value.getAsObject();
  const json::Object *document = object ? object->getObject("textDocument") : nullptr;
  return document ? document->getString("uri").value_or("").str() : "";
}

class Server {
public:
  Server(llvm::lsp::JSONTransport &transport, int64_t ranks)
      : ranks_(ranks), messages_(transport),
        publish_(messages_.outgoingNotification<json::Value>("textDocument/publishDiagnostics")) {
    messages_.method("initialize", this, &Server::onInitialize);
    messages_.method("shutdown", this, &Server::onShutdown);
    messages_.method("textDocument/hover", this, &Server::onHover);
    messages_.notification("initialized", this, &Server::onInitialized);
    messages_.notification("textDocument/didOpen", this, &Server::onOpen);
    messages_.notification("textDocument/didChange", this, &Server::onChange);
    messages_.notification("textDocument/didClose", this, &Server::onClose);
    for (llvm::StringLiteral method : kForwarded) {
      forwards_.push_back({*this, method});
      messages_.method(method, &forwards_.back(), &Forward::call);
    }
  }

  llvm::lsp::MessageHandler &messages() { return messages_; }
  bool wasInitialized() const { return mlir_.has_value(); }
  bool wasShutDown() const { return wasShutDown_; }

private:
  /// Requests that are passed on to MLIR's server.
  static constexpr llvm::StringLiteral kForwarded[] = {
      "textDocument/definition", "textDocument/references", "textDocument/documentSymbol",
      "textDocument/completion", "textDocument/codeAction", "mlir/convertFromBytecode",
      "mlir/convertToBytecode"};

  struct Forward {
    Server &server;
    llvm::StringLiteral method;
    void call(const Raw &params, Reply reply) { reply(server.ask(method, params)); }
  };

  void onInitialize(const Raw &params, Reply reply) {
    if (mlir_)
      return reply(llvm::make_error<LSPError>("initialized already", ErrorCode::InvalidRequest));
    mlir_.emplace(params.value);
    llvm::Expected<json::Value> result = mlir_->initialize();
    if (!result) {
      mlir_.reset();
      return reply(result.takeError());
    }
    if (json::Object *object = result->getAsObject())
      describeSelf(*object);
    analyzer_.emplace(ranks_, [this](json::Value diagnostics) { publish_(diagnostics); });
    reply(std::move(result));
  }

  /// MLIR's server takes whole texts, this one changes.
  static void describeSelf(json::Object &result) {
    result["serverInfo"] = json::Object{{"name", "coll-lsp-server"}, {"version", COLL_VERSION}};
    json::Object *capabilities = result.getObject("capabilities");
    json::Object *sync = capabilities ? capabilities->getObject("textDocumentSync") : nullptr;
    if (sync)
      (*sync)["change"] = int64_t(llvm::lsp::TextDocumentSyncKind::Incremental);
  }

  void onInitialized(const Raw &) {}

  void onShutdown(const Raw &, Reply reply) {
    wasShutDown_ = true;
    analyzer_.reset();
    reply(nullptr);
  }

  void onOpen(const Raw &params) {
    const json::Object *object = params.value.getAsObject();
    const json::Object *item = object ? object->getObject("textDocument") : nullptr;
    auto uri = item ? item->getString("uri") : std::nullopt;
    auto text = item ? item->getString("text") : std::nullopt;
    if (uri && text)
      setDocument(uri->str(), Document(text->str()), *item);
  }

  void onChange(const Raw &params) {
    const json::Object *object = params.value.getAsObject();
    auto found = documents_.find(uriOf(params));
    const json::Array *changes = object ? object->getArray("contentChanges") : nullptr;
    if (found == documents_.end() || !changes)
      return;
    for (const json::Value &change : *changes)
      if (!found->second.apply(change))
        llvm::lsp::Logger::error("a change was left out: it is malformed");
    setDocument(found->first, found->second, *object->getObject("textDocument"));
  }

  void onClose(const Raw &params) {
    documents_.erase(uriOf(params));
    if (analyzer_)
      analyzer_->close(uriOf(params));
  }

  void setDocument(const std::string &uri, const Document &document, const json::Object &item) {
    if (&documents_[uri] != &document)
      documents_[uri] = document;
    const json::Value *version = item.get("version");
    if (analyzer_)
      analyzer_->update(uri, document, version ? *version : json::Value(nullptr));
  }

  /// The answer of MLIR's server, in the editor's columns.
  llvm::Expected<json::Value> ask(StringRef method, const Raw &params) {
    if (!mlir_)
      return llvm::make_error<LSPError>("not initialized", ErrorCode::ServerNotInitialized);
    std::string uri = uriOf(params);
    const Document &document = documents_[uri];
    if (mlir::coll::findDeepNesting(document.text()))
      return nullptr;
    json::Value question = params.value;
    document.convertColumns(question, Document::Columns::Bytes, uri);
    auto answer = mlir_->ask(uri, document.text(), method, std::move(question));
    if (answer)
      document.convertColumns(*answer, Document::Columns::Utf16, uri);
    return answer;
  }

  /// MLIR's hover, after our own text.
  void onHover(const Raw &params, Reply reply) {
    std::string uri = uriOf(params);
    json::Value position = nullptr;
    if (const json::Object *object = params.value.getAsObject())
      if (const json::Value *given = object->get("position"))
        position = *given;
    documents_[uri].convertColumns(position, Document::Columns::Bytes, uri);
    const json::Object *place = position.getAsObject();
    std::optional<Hover> ours;
    if (place && analyzer_)
      ours = analyzer_->findHover(uri, place->getInteger("line").value_or(-1),
                                  place->getInteger("character").value_or(-1));
    auto answer = ask("textDocument/hover", params);
    if (!ours)
      return reply(std::move(answer));
    std::string below;
    if (!answer)
      llvm::consumeError(answer.takeError());
    else if (const json::Object *hover = answer->getAsObject())
      if (const json::Object *contents = hover->getObject("contents"))
        below = contents->getString("value").value_or("").str();
    auto makePosition = [&](int64_t column) {
      return json::Object{{"line", ours->line}, {"character", column}};
    };
    json::Value result = json::Object{
        {"contents",
         json::Object{{"kind", "markdown"},
                      {"value", ours->text + (below.empty() ? "" : "\n\n---\n\n" + below)}}},
        {"range",
         json::Object{{"start", makePosition(ours->start)}, {"end", makePosition(ours->end)}}}};
    documents_[uri].convertColumns(result, Document::Columns::Utf16, uri);
    reply(std::move(result));
  }

  int64_t ranks_;
  llvm::lsp::MessageHandler messages_;
  llvm::lsp::OutgoingNotification<json::Value> publish_;
  std::deque<Forward> forwards_;
  std::map<std::string, Document> documents_;
  std::optional<MlirServer> mlir_;
  std::optional<Analyzer> analyzer_;
  bool wasShutDown_ = false;
};

} // namespace

int serve(std::FILE *in, llvm::raw_ostream &out, int64_t ranks) {
  llvm::lsp::Logger::setLogLevel(llvm::lsp::Logger::Level::Error);
  llvm::lsp::JSONTransport transport(std::make_unique<CheckedInput>(in), out);
  Server server(transport, ranks);
  // An error means the end of the input: the editor has ended.
  llvm::consumeError(transport.run(server.messages()));
  if (server.wasShutDown())
    return 0;
  llvm::errs() << "coll-lsp-server: the input ended "
               << (server.wasInitialized() ? "without a request \"shutdown\"\n"
                                           : "before a request \"initialize\" of the language "
                                             "server protocol: an editor starts this program\n");
  return 1;
}

} // namespace coll::lsp
