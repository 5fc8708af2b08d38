//===- parser_wire.h - messages of a parser process and its client ------*- C++ -*-===//

#ifndef COLL_COMPILER_PARSER_WIRE_H
#define COLL_COMPILER_PARSER_WIRE_H

#include <cstdint>

namespace coll::run::wire {

inline constexpr uint64_t kMagic = 0x31657372'61506c43; // "ClParse1"

// Followed by the name and the text.
struct Request {
  uint64_t magic = kMagic;
  uint64_t nameBytes = 0;
  uint64_t textBytes = 0;
  uint64_t memoryBytes = 0; // that the parser may use
  int64_t stateArgs = -1;   // -1: by roles or types
};

// Followed by the messages as JSON, why the step was refused, and its bytecode.
struct Answer {
  uint64_t magic = kMagic;
  uint64_t messageBytes = 0;
  uint64_t whyBytes = 0;
  uint64_t codeBytes = 0; // 0: the step was refused
};

// The parser's exit code where it met its limit of memory.
inline constexpr int kOutOfMemory = 71;

} // namespace coll::run::wire

#endif // COLL_COMPILER_PARSER_WIRE_H
