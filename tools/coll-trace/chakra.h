// chakra.h - execution traces of MLCommons' Chakra, 1.0: one file per rank, NAME.RANK.et, of a
// GlobalMetadata message and then Nodes, each after its length. What is not known here is kept, and
// written as it was read.

#ifndef COLL_TOOLS_COLL_TRACE_CHAKRA_H
#define COLL_TOOLS_COLL_TRACE_CHAKRA_H

#include "runtime/profiler/perfetto/packets.h"
#include "runtime/profiler/perfetto/proto.h"
#include "runtime/profiler/perfetto/sink.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coll::trace::chakra {

enum NodeType : int32_t {
  kInvalid = 0,
  kMetadata = 1,
  kMemoryLoad = 2,
  kMemoryStore = 3,
  kCompute = 4,
  kSend = 5,
  kRecv = 6,
  kCollective = 7,
};

// Name of a collective in coll's traces ("AllReduce") to its number in Chakra; -1: it has none.
int64_t collectiveNumber(std::string_view name);
// "Collective" for a number that has no name.
std::string_view collectiveName(int64_t number);

struct Node {
  uint64_t id = 0;
  std::string name;
  int32_t type = kInvalid;
  std::vector<uint64_t> controlDependencies, dataDependencies;
  uint64_t startMicros = 0, durationMicros = 0;
  // Attributes and the fields that are not above, encoded as they stand in the file.
  std::string rest;

  void addBool(std::string_view name, bool value);
  void addInt32(std::string_view name, int32_t value);
  void addInt64(std::string_view name, int64_t value);
  void addUint64(std::string_view name, uint64_t value);
  void addText(std::string_view name, std::string_view value);
  // The value of an attribute (an integer of any type, or a text), or the default.
  int64_t number(std::string_view name, int64_t otherwise) const;
  std::string text(std::string_view name) const;
};

// kCollInvalidCall where the bytes are no node.
rt::Result<Node> parseNode(std::string_view bytes);
std::string encode(const Node &node);
// GlobalMetadata of version 1.0.
std::string encodeMetadata();

// Appends a message and its length to a file.
rt::Status writeMessage(profiler::perfetto::Sink &sink, std::string_view message);

// For bytes in a text of a trace.
std::string toBase64(std::string_view bytes);
// Nothing where the text is no base64.
std::string fromBase64(std::string_view text);

} // namespace coll::trace::chakra

#endif // COLL_TOOLS_COLL_TRACE_CHAKRA_H
