// chakra.h - execution traces of MLCommons' Chakra, version 1.0: one file per rank, NAME.RANK.et.
// It holds a GlobalMetadata message and then Nodes, each preceded by its length. Unknown fields are
// kept and written back as they were read.

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

// Converts the name of a collective in coll's traces ("AllReduce") to its number in Chakra; -1 if
// it has none.
int64_t collectiveNumber(std::string_view name);
// "Collective" for a number that has no name.
std::string_view collectiveName(int64_t number);

struct Node {
  uint64_t id = 0;
  std::string name;
  int32_t type = kInvalid;
  std::vector<uint64_t> controlDependencies, dataDependencies;
  uint64_t startMicros = 0, durationMicros = 0;
  // Attributes and the fields that are not listed above, as encoded in the file.
  std::string rest;

  void addBool(std::string_view name, bool value);
  void addInt32(std::string_view name, int32_t value);
  void addInt64(std::string_view name, int64_t value);
  void addUint64(std::string_view name, uint64_t value);
  void addText(std::string_view name, std::string_view value);
  // The value of an attribute (an integer of any type, or a text), or the default if it is missing.
  int64_t number(std::string_view name, int64_t otherwise) const;
  std::string text(std::string_view name) const;
};

// Returns kCollInvalidCall if the bytes are not a node.
rt::Result<Node> parseNode(std::string_view bytes);
std::string encode(const Node &node);
// GlobalMetadata of version 1.0.
std::string encodeMetadata();

// Appends a message and its length to a file.
rt::Status writeMessage(profiler::perfetto::Sink &sink, std::string_view message);

// Encodes bytes for a text field of a trace.
std::string toBase64(std::string_view bytes);
// Returns an empty string if the text is not base64.
std::string fromBase64(std::string_view text);

} // namespace coll::trace::chakra

#endif // COLL_TOOLS_COLL_TRACE_CHAKRA_H
