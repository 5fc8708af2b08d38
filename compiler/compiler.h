//===- compiler.h - compiles a step for its ranks -----------------------*- C++ -*-===//
//
// The whole compiler as one call. It prints nothing, reads no environment and keeps nothing
// between calls; any number of threads may call it at once.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_COMPILER_COMPILER_H
#define COLL_COMPILER_COMPILER_H

#include "compiler/explanation.h"
#include "compiler/messages.h"
#include "compiler/stages.h"
#include "compiler/target.h"
#include "passes/export/jit/object_code.h"

#include "llvm/Support/Error.h"

namespace coll::run {

struct Request {
  std::string name = "step";        // of the text, for messages and locations: a path
  llvm::StringRef text;             // of any level, or bytecode; borrowed
  bool isTerminated = false;        // a zero follows the text, which is then not copied
  std::optional<int64_t> stateArgs; // absent: by the arguments' roles or types
  Target target;
  std::string cacheFolder; // empty: compile always
  uint64_t cacheBytes = uint64_t(1) << 30;
  bool keepStages = false;  // then it compiles always
  MessageHandler onMessage; // each message as it comes; may be null
};

struct Executable {
  mlir::coll::ObjectCode code; // with a descriptor for each class of ranks
  Explanation explanation;     // empty for code of one device, and from L6 on
  std::vector<Message> messages;
  std::vector<Stage> stages; // only with keepStages
  bool isFromCache = false;
};

/// Parses, imports, distributes, proves and compiles. Errors in the step are reported as messages;
/// the returned error names the phase that failed.
llvm::Expected<Executable> compile(const Request &request);

} // namespace coll::run

#endif // COLL_COMPILER_COMPILER_H
