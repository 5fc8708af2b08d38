//===- mlir_server.cc - MLIR's language server, one question at a time -----------===//

#include "tools/coll-lsp-server/mlir_server.h"

#include "passes/passes.h"
#include "tools/coll-lsp-server/modes.h"
#include "tools/coll-lsp-server/worker.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LSP/Transport.h"

#include <cstdio>

using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

namespace coll::lsp {
namespace {

constexpr int64_t kInitializeId = 0, kQuestionId = 1;

/// Messages to a server, and what it sends back.
class Conversation {
public:
  explicit Conversation(json::Value initializeParams) : out_(sent_), transport_(nullptr, out_) {
    transport_.call("initialize", std::move(initializeParams), kInitializeId);
  }

  void open(StringRef uri, StringRef text) {
    transport_.notify(
        "textDocument/didOpen",
        json::Object{
            {"textDocument",
             json::Object{{"uri", uri}, {"languageId", "mlir"}, {"version", 1}, {"text", text}}}});
  }

  void ask(StringRef method, json::Value params) {
    transport_.call(method, std::move(params), kQuestionId);
  }

  /// Holds the conversation with a worker. Returns all that it sent.
  Expected<std::vector<json::Object>> run() {
    transport_.notify("exit", nullptr);
    WorkerOutput received = runWorker({kMlirServerMode.str()}, sent_, kQuestionDeadline);
    if (!received.failure.empty())
      return llvm::createStringError("MLIR's server " + received.failure);
    return parse(received.text);
  }

private:
  static std::vector<json::Object> parse(std::string &received) {
    std::vector<json::Object> messages;
    if (received.empty())
      return messages;
    FILE *file = fmemopen(received.data(), received.size(), "r");
    llvm::lsp::JSONTransportInputOverFile input(file);
    std::string text;
    while (llvm::succeeded(input.readMessage(text))) {
      Expected<json::Value> message = json::parse(text);
      if (!message)
        llvm::consumeError(message.takeError());
      else if (json::Object *object = message->getAsObject())
        messages.push_back(std::move(*object));
    }
    fclose(file);
    return messages;
  }

  std::string sent_;
  llvm::raw_string_ostream out_;
  llvm::lsp::JSONTransport transport_;
};

Expected<json::Value> findReply(std::vector<json::Object> &messages, int64_t id) {
  for (json::Object &message : messages) {
    if (message.getInteger("id") != id)
      continue;
    if (const json::Object *error = message.getObject("error"))
      return llvm::make_error<llvm::lsp::LSPError>(
          error->getString("message").value_or("unknown error").str(),
          llvm::lsp::ErrorCode(error->getInteger("code").value_or(-32603)));
    json::Value *result = message.get("result");
    return result ? std::move(*result) : json::Value(nullptr);
  }
  return llvm::createStringError("MLIR's server did not answer");
}

} // namespace

Expected<json::Value> MlirServer::initialize() const {
  auto messages = Conversation(initializeParams_).run();
  if (!messages)
    return messages.takeError();
  return findReply(*messages, kInitializeId);
}

Expected<json::Value> MlirServer::ask(StringRef uri, StringRef text, StringRef method,
                                      json::Value params) const {
  Conversation conversation(initializeParams_);
  conversation.open(uri, text);
  conversation.ask(method, std::move(params));
  auto messages = conversation.run();
  if (!messages)
    return messages.takeError();
  return findReply(*messages, kQuestionId);
}

int runMlirServer() {
  mlir::DialectRegistry registry;
  mlir::coll::registerCollDialects(registry);
  char name[] = "coll-lsp-server";
  char *argv[] = {name, nullptr};
  return llvm::failed(mlir::MlirLspServerMain(1, argv, registry)) ? 1 : 0;
}

} // namespace coll::lsp
