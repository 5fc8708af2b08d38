//===- parser_server.cc - the process that parses --------------------------------===//

#include "compiler/compile.h"
#include "compiler/large_stack.h"
#include "compiler/parser_process.h"
#include "compiler/parser_wire.h"
#include "compiler/untrusted_text.h"
#include "passes/passes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/ErrorHandling.h"

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace coll::run {
namespace {

bool receive(int socket, void *data, size_t bytes) {
  auto *at = static_cast<char *>(data);
  while (bytes > 0) {
    const ssize_t got = read(socket, at, bytes);
    if (got <= 0 && !(got < 0 && errno == EINTR))
      return false;
    at += std::max<ssize_t>(got, 0);
    bytes -= static_cast<size_t>(std::max<ssize_t>(got, 0));
  }
  return true;
}

bool send(int socket, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = write(socket, bytes.data(), bytes.size());
    if (sent < 0 && errno != EINTR)
      return false;
    bytes = bytes.drop_front(static_cast<size_t>(std::max<ssize_t>(sent, 0)));
  }
  return true;
}

[[noreturn]] void endOutOfMemory() { _exit(wire::kOutOfMemory); }

/// Address space that the process has by now; 0 where the kernel does not say.
uint64_t mappedBytes() {
  uint64_t pages = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%" SCNu64, &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Limits the memory that the process may take from here on.
void limitMemory([[maybe_unused]] uint64_t bytes) {
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes
  const uint64_t whole = bytes + mappedBytes() + mlir::coll::kLargeStackBytes;
  const rlimit limit = {whole, whole};
  if (whole > bytes) // not past what can be counted
    setrlimit(RLIMIT_AS, &limit);
#endif
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::set_new_handler(endOutOfMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endOutOfMemory(); });
}

/// The step's bytecode, of the newest version.
std::string writeBytecode(mlir::ModuleOp module) {
  std::string code;
  llvm::raw_string_ostream os(code);
  return mlir::succeeded(mlir::writeBytecodeToFile(module, os)) ? code : "";
}

ParsedApart parseHere(llvm::StringRef name, llvm::StringRef text,
                      std::optional<int64_t> stateArgs) {
  ParsedApart parsed;
  if (llvm::Error error = mlir::coll::checkUntrusted(name, text)) {
    parsed.why = llvm::toString(std::move(error));
    return parsed;
  }
  mlir::DialectRegistry registry;
  mlir::coll::registerCollDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  Messages messages(context, nullptr);
  llvm::Expected<StepIr> step =
      loadStep(context, name, text, stateArgs, nullptr,
               [&](Message message) { messages.say(std::move(message)); });
  if (step && !step->note.empty())
    messages.note(step->note);
  parsed.messages = messages.all();
  if (!step)
    parsed.why = llvm::toString(step.takeError());
  else
    parsed.bytecode = writeBytecode(*step->module);
  return parsed;
}

bool answer(int socket, const ParsedApart &parsed) {
  std::string messages;
  llvm::raw_string_ostream(messages)
      << llvm::json::Value(llvm::json::Array(std::vector<Message>(parsed.messages)));
  const wire::Answer head = {wire::kMagic, messages.size(), parsed.why.size(),
                             parsed.bytecode.size()};
  return send(socket, {reinterpret_cast<const char *>(&head), sizeof(head)}) &&
         send(socket, messages) && send(socket, parsed.why) && send(socket, parsed.bytecode);
}

} // namespace

int serveParser(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // the answer has no reader without its parent
  wire::Request head;
  if (!receive(socket, &head, sizeof(head)) || head.magic != wire::kMagic)
    return EXIT_FAILURE;
  limitMemory(head.memoryBytes);
  std::string name(head.nameBytes, '\0'), text(head.textBytes, '\0');
  if (!receive(socket, name.data(), name.size()) || !receive(socket, text.data(), text.size()))
    return EXIT_FAILURE;
  std::optional<int64_t> stateArgs;
  if (head.stateArgs >= 0)
    stateArgs = head.stateArgs;
  ParsedApart parsed;
  // The parser and the import recurse as deep as regions nest.
  if (llvm::Error error =
          mlir::coll::callOnLargeStack([&] { parsed = parseHere(name, text, stateArgs); })) {
    llvm::consumeError(std::move(error));
    return wire::kOutOfMemory; // there is no room for the stack
  }
  return answer(socket, parsed) ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace coll::run
