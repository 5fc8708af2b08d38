//===- step_compiler.h - from step files to code, by way of the cache ---*- C++ -*-===//

#ifndef COLL_COMPILER_STEP_COMPILER_H
#define COLL_COMPILER_STEP_COMPILER_H

#include "compiler/code_cache.h"
#include "compiler/compile.h"
#include "compiler/messages.h"
#include "compiler/target.h"

#include "mlir/IR/MLIRContext.h"
#include "passes/thread_pool.h"

#include <functional>

namespace coll::run {

/// A step file. Its text is read at once, and parsed when something has to be compiled.
struct StepFile {
  std::string path;
  std::optional<int64_t> stateArgs; // absent: by the types, with a note
  std::unique_ptr<llvm::MemoryBuffer> text;
  bool isReadOnce = false; // the text is freed when it has been parsed
  std::optional<StepIr> ir;
  std::vector<Message> messages; // of the import
};

/// Information that belongs to compiled code.
struct CompileDetails {
  bool isCached = false; // found, not compiled now
  Explanation explanation;
};

/// Compiles steps, or finds them compiled by an earlier run. If several processes need the same
/// code at once, one compiles.
class StepCompiler {
public:
  /// `handler` gets every message once; it may be null.
  explicit StepCompiler(MessageHandler handler);

  /// Uses the cache in `folder` from now on. Where it cannot be used, a note says why, and
  /// every step is compiled.
  void useCache(llvm::StringRef folder, uint64_t maxBytes);

  /// Writes the IR of every level while it compiles; it then compiles always. Borrowed.
  void dumpStages(StageWriter *stages) { stages_ = stages; }

  /// A function that is told which entries of the cache are used and kept.
  void logCacheUse(std::function<void(const std::string &)> log) { logCacheUse_ = std::move(log); }

  /// The file's text has been read and checked (untrusted_text.h).
  StepFile open(llvm::StringRef path, std::unique_ptr<llvm::MemoryBuffer> text,
                std::optional<int64_t> stateArgs);
  llvm::Expected<StepFile> open(llvm::StringRef path, std::optional<int64_t> stateArgs);

  /// `details`, where given, are filled in.
  llvm::Expected<mlir::coll::ObjectCode> compile(StepFile &file, const Target &target,
                                                 CompileDetails *details = nullptr);

  Messages &messages() { return messages_; }

private:
  llvm::Expected<mlir::coll::ObjectCode> compileAnew(StepFile &file, const Target &target,
                                                     Explanation &explanation);
  llvm::Error parse(StepFile &file);
  llvm::Expected<mlir::coll::CodeKey> makeKey(const StepFile &file, const Target &target) const;
  std::optional<mlir::coll::ObjectCode> findCode(const mlir::coll::CodeKey &key,
                                                 Explanation &explanation);
  void keepCode(const mlir::coll::CodeKey &key, const mlir::coll::ObjectCode &code,
                llvm::ArrayRef<Message> messages, const Explanation &explanation);

  mlir::coll::ThreadPool threads_; // of the context
  mlir::MLIRContext context_;
  Messages messages_;
  StageWriter *stages_ = nullptr;
  std::optional<mlir::coll::CodeCache> cache_;
  std::string compiler_; // its identity
  std::function<void(const std::string &)> logCacheUse_ = [](const std::string &) {};
};

} // namespace coll::run

#endif // COLL_COMPILER_STEP_COMPILER_H
