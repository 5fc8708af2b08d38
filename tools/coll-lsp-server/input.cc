//===- input.cc - unchecked messages ---------------------------------------------===//

#include "tools/coll-lsp-server/input.h"

namespace coll::lsp {
namespace {

constexpr int kMaxDepth = 200;

/// Whether arrays and objects nest at most so deep; strings are skipped.
bool isShallow(llvm::StringRef json) {
  int depth = 0;
  for (size_t at = 0; at < json.size(); ++at) {
    char c = json[at];
    if (c == '"')
      for (++at; at < json.size() && json[at] != '"'; ++at)
        at += json[at] == '\\';
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (depth > kMaxDepth)
      return false;
  }
  return true;
}

bool isMessage(llvm::StringRef text) {
  if (!isShallow(text))
    return false;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const llvm::json::Object *object = value->getAsObject();
  return object && object->getString("jsonrpc") == llvm::StringRef("2.0") &&
         (object->getString("method") || object->get("id"));
}

} // namespace

llvm::LogicalResult CheckedInput::readStandardMessage(std::string &json) {
  if (failed(input_.readStandardMessage(json)))
    return llvm::failure();
  if (isMessage(json))
    return llvm::success();
  llvm::lsp::Logger::error("a message was left out: it is not JSON-RPC 2.0");
  return llvm::failure();
}

llvm::LogicalResult CheckedInput::readDelimitedMessage(std::string &json) {
  return input_.readDelimitedMessage(json);
}

} // namespace coll::lsp
