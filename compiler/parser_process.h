//===- parser_process.h - has a text parsed by a process that may crash --*- C++ -*-===//
//
// MLIR's parser can crash on a text that was made to crash it, and a library cannot fork. So a
// program of its own parses and imports the step, and its result travels back as bytecode:
//
//   client                              parser (serveParser)
//     spawns it, sends the text  ──────>  limits its memory, parses, imports
//     watches a deadline         <──────  messages, and bytecode at level L0 or later
//
// The client does not trust the answer: lengths are bounded, and the bytecode is read with the
// checks that any text gets. No descriptor and no environment variable of the client reaches the
// parser.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_PARSER_PROCESS_H
#define COLL_COMPILER_PARSER_PROCESS_H

#include "compiler/messages.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coll::run {

struct ParserProcess {
  std::string program; // calls serveParser() on its standard input
  int64_t timeoutUs = 60'000'000;
  uint64_t memoryBytes = uint64_t(4) << 30; // more than that ends it
};

struct ParsedApart {
  enum class End {
    Parsed,
    Refused, // the text is wrong; the messages say where
    Crashed, // the parser ended without an answer, or with one that is none
    TimedOut,
    Unavailable, // the parser cannot be started
  };
  End end = End::Crashed;
  std::string bytecode; // of a step that was parsed
  std::string why;      // of one that was not
  std::vector<Message> messages;
};

/// Has a step parsed and imported by another process. `name` and `stateArgs` as in Request. Blocks
/// until the process has ended. From any thread.
ParsedApart parseApart(const ParserProcess &parser, llvm::StringRef name, llvm::StringRef text,
                       std::optional<int64_t> stateArgs);

/// The parser's part: serves the one request that comes over the socket, and returns the exit code.
int serveParser(int socket);

} // namespace coll::run

#endif // COLL_COMPILER_PARSER_PROCESS_H
