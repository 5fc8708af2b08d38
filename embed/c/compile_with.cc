// compile_with.cc - libcoll.so: the step goes through compiler/.

#include "compiler/compiler.h"
#include "driver/launch.h"
#include "driver/place.h"
#include "embed/c/compile.h"

#include "llvm/ADT/StringExtras.h"

namespace coll::embed {

const bool kHasCompiler = true;

namespace {

int32_t severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note:
    return COLL_NOTE;
  case mlir::DiagnosticSeverity::Warning:
    return COLL_WARNING;
  case mlir::DiagnosticSeverity::Error:
    return COLL_ERROR;
  case mlir::DiagnosticSeverity::Remark:
    return COLL_REMARK;
  }
  return COLL_NOTE;
}

Outcome readTarget(const coll_compile_options &options, run::Target &target) {
  if (options.ranks < 0 || options.ranks > run::kMaxRanks)
    return invalid("ranks is " + std::to_string(options.ranks) + ": expected 0 to " +
                   std::to_string(run::kMaxRanks));
  if (options.ranks > 0)
    target.ranks = options.ranks;
  if (options.mesh && *options.mesh) {
    llvm::Expected<std::vector<run::MeshAxisOption>> mesh = run::parseMesh(options.mesh);
    if (!mesh)
      return invalid("mesh \"" + std::string(options.mesh) +
                     "\": " + llvm::toString(mesh.takeError()));
    target.mesh = std::move(*mesh);
    const int64_t total = run::countRanks(target.mesh);
    if (target.ranks.value_or(total) != total)
      return invalid("ranks is " + std::to_string(*target.ranks) + ", but the mesh has " +
                     std::to_string(total));
    target.ranks = total;
  }
  target.strategy = options.strategy ? options.strategy : "";
  for (size_t i = 0; i < options.num_shards; ++i) {
    if (!options.shards || !options.shards[i])
      return invalid("shards[" + std::to_string(i) + "] is null");
    target.shards.push_back(options.shards[i]);
  }
  if (target.strategy == "none" && target.ranks.value_or(1) > 1)
    return invalid("strategy none is for one rank, not for " + std::to_string(*target.ranks));
  target.verify = !options.skip_proof;
  return nullptr;
}

// The first diagnostic is the failure, the others and the phase that it ended are notes.
Outcome refuse(llvm::Error error, const std::vector<MessageText> &messages) {
  Outcome failure = fail(COLL_COMPILE, llvm::toString(std::move(error)));
  const std::string phase = failure->message;
  bool isFirst = true;
  for (const MessageText &message : messages) {
    if (message.severity == COLL_ERROR && isFirst) {
      failure->message = message.text;
      failure->location = message.location;
      isFirst = false;
    } else if (!isFirst) {
      const std::string where = message.location.empty() ? "" : message.location + ": ";
      failure->notes.push_back(where + message.text);
    }
  }
  if (!isFirst)
    failure->notes.push_back(phase);
  return failure;
}

Outcome link(mlir::coll::ObjectCode objects, StepCode &code) {
  llvm::Expected<run::LinkedStep> linked = run::linkStep(std::move(objects));
  if (!linked)
    return fail(COLL_COMPILE, llvm::toString(linked.takeError()));
  auto owner = std::make_shared<run::LinkedStep>(std::move(*linked));
  code.classes = std::move(owner->classes);
  code.owner = owner;
  return nullptr;
}

} // namespace

Outcome compileStep(const Context &context, std::string_view text,
                    const coll_compile_options &options, std::shared_ptr<Executable> &executable) {
  run::Request request;
  request.name = options.name;
  request.text = {text.data(), text.size()};
  if (options.state_args >= 0)
    request.stateArgs = options.state_args;
  COLL_EMBED_TRY(readTarget(options, request.target));
  request.cacheFolder = context.cacheFolder();
  request.cacheBytes = context.cacheBytes();
  request.keepStages = options.keep_stages != 0;
  std::vector<MessageText> messages;
  request.onMessage = [&](const run::Message &message) {
    messages.push_back({severityOf(message.severity), message.location, message.text});
    context.say(static_cast<coll_severity>(messages.back().severity),
                message.rendered.empty() ? message.text : message.rendered);
  };
  llvm::Expected<run::Executable> compiled = run::compile(request);
  if (!compiled)
    return refuse(compiled.takeError(), messages);
  StepCode code;
  COLL_EMBED_TRY(link(std::move(compiled->code), code));
  executable = std::make_shared<Executable>(std::move(code));
  executable->messages = std::move(messages);
  for (run::Stage &stage : compiled->stages)
    executable->stages.push_back({std::move(stage.name), std::move(stage.text)});
  executable->isProved = request.target.verify;
  executable->isFromCache = compiled->isFromCache;
  return nullptr;
}

} // namespace coll::embed
