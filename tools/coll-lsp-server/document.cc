//===- document.cc - a text that an editor changes -------------------------------===//

#include "tools/coll-lsp-server/document.h"

#include <algorithm>
#include <optional>

using llvm::StringRef;
namespace json = llvm::json;

namespace coll::lsp {
namespace {

/// Bytes of the UTF-8 character that starts with `lead`, and its UTF-16 units.
std::pair<size_t, size_t> widthOf(unsigned char lead) {
  if (lead < 0xC0)
    return {1, 1};
  if (lead < 0xE0)
    return {2, 1};
  return lead < 0xF0 ? std::pair<size_t, size_t>(3, 1) : std::pair<size_t, size_t>(4, 2);
}

int64_t toBytes(StringRef line, int64_t utf16) {
  size_t bytes = 0;
  for (int64_t units = 0; bytes < line.size() && units < utf16;) {
    auto [width, count] = widthOf(line[bytes]);
    bytes += width;
    units += count;
  }
  return std::min(bytes, line.size());
}

int64_t toUtf16(StringRef line, int64_t bytes) {
  int64_t units = 0;
  for (size_t at = 0; at < line.size() && static_cast<int64_t>(at) < bytes;) {
    auto [width, count] = widthOf(line[at]);
    at += width;
    units += count;
  }
  return units;
}

} // namespace

Document::Document(std::string text) : text_(std::move(text)) { findLines(); }

void Document::findLines() {
  lineStarts_.assign(1, 0);
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    lineStarts_.push_back(at + 1);
}

StringRef Document::line(int64_t number) const {
  if (number < 0 || number >= static_cast<int64_t>(lineStarts_.size()))
    return "";
  return StringRef(text_).substr(lineStarts_[number]).take_until([](char c) { return c == '\n'; });
}

size_t Document::offsetOf(int64_t number, int64_t utf16Column) const {
  if (number < 0)
    return 0;
  if (number >= static_cast<int64_t>(lineStarts_.size()))
    return text_.size();
  return lineStarts_[number] + toBytes(line(number), utf16Column);
}

bool Document::apply(const json::Value &change) {
  const json::Object *object = change.getAsObject();
  std::optional<StringRef> text = object ? object->getString("text") : std::nullopt;
  if (!text)
    return false;
  if (!object->get("range")) {
    text_ = text->str();
    findLines();
    return true;
  }
  const json::Object *range = object->getObject("range");
  auto offset = [&](StringRef end) -> std::optional<size_t> {
    const json::Object *position = range ? range->getObject(end) : nullptr;
    auto line = position ? position->getInteger("line") : std::nullopt;
    auto character = position ? position->getInteger("character") : std::nullopt;
    return line && character ? std::optional<size_t>(offsetOf(*line, *character)) : std::nullopt;
  };
  std::optional<size_t> start = offset("start"), end = offset("end");
  if (!start || !end || *start > *end)
    return false;
  text_.replace(*start, *end - *start, text->str());
  findLines();
  return true;
}

void Document::convertColumns(json::Value &value, Columns columns, StringRef uri) const {
  if (json::Array *array = value.getAsArray()) {
    for (json::Value &element : *array)
      convertColumns(element, columns, uri);
    return;
  }
  json::Object *object = value.getAsObject();
  if (!object)
    return;
  if (auto other = object->getString("uri"); other && *other != uri)
    return;
  auto number = object->getInteger("line");
  auto character = object->getInteger("character");
  if (number && character) {
    StringRef text = line(*number);
    (*object)["character"] =
        columns == Columns::Bytes ? toBytes(text, *character) : toUtf16(text, *character);
    return;
  }
  for (auto &entry : *object)
    convertColumns(entry.second, columns, uri);
}

} // namespace coll::lsp
