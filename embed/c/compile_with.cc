// compile_with.cc - libcoll.so: the step goes through compiler/.

#include "compiler/compiler.h"
#include "compiler/parser_process.h"
#include "driver/launch.h"
#include "driver/place.h"
#include "embed/c/compile.h"
#include "embed/c/structs.h"
#include "runtime/dl/beside.h"
#include "runtime/kernels/available.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <unistd.h>

namespace coll::embed {

const bool kHasCompiler = true;

namespace {

constexpr llvm::StringLiteral kBytecodeMagic = "ML\xefR";

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

Outcome readRoots(const coll_compile_options &options, run::Target &target) {
  target.root = orElse(options.root, "");
  target.route = orElse(options.route, "direct");
  target.accumulate = std::max(options.accumulate, 1);
  if (!llvm::is_contained({"", "hash", "balanced", "shard"}, target.root))
    return invalid("root is \"" + target.root + "\": expected hash, balanced or shard");
  if (!llvm::is_contained({"direct", "ring"}, target.route))
    return invalid("route is \"" + target.route + "\": expected direct or ring");
  if (options.accumulate < 0)
    return invalid("accumulate is " + std::to_string(options.accumulate) +
                   ": expected a number of micro-batches");
  if (options.route && target.root.empty())
    return invalid("route needs root");
  target.staleness = options.staleness;
  if (options.staleness < 0 || options.staleness > run::kMaxStaleness)
    return invalid("staleness is " + std::to_string(options.staleness) + ": expected 0 to " +
                   std::to_string(run::kMaxStaleness) + " steps");
  if ((!target.root.empty() || target.accumulate > 1 || target.staleness > 0) &&
      (target.strategy == "none" || target.strategy == "auto"))
    return invalid("strategy " + target.strategy +
                   " excludes root, accumulate and staleness: leave them out, or name another "
                   "strategy");
  return nullptr;
}

Outcome readList(const char *name, const char *const *texts, size_t count,
                 std::vector<std::string> &list) {
  for (size_t i = 0; i < count; ++i) {
    if (!texts || !texts[i])
      return invalid(std::string(name) + "[" + std::to_string(i) + "] is null");
    list.push_back(texts[i]);
  }
  return nullptr;
}

Outcome readStages(const coll_compile_options &options, run::Target &target) {
  if (options.stages < 0 || options.stages > run::kMaxRanks)
    return invalid("stages is " + std::to_string(options.stages) + ": expected 0 to " +
                   std::to_string(run::kMaxRanks));
  if (options.micro_batches < 0)
    return invalid("micro_batches is " + std::to_string(options.micro_batches) +
                   ": expected a number of parts of the batch");
  if (options.stages == 0 && (options.micro_batches > 1 || options.schedule ||
                              options.num_stage_patterns > 0 || options.num_stage_meshes > 0))
    return invalid("micro_batches, schedule, stage_patterns and stage_meshes need stages");
  if (options.stages > 0 &&
      (target.accumulate > 1 || target.strategy == "none" || target.strategy == "auto"))
    return invalid("stages excludes accumulate and the strategies none and auto: a pipeline has "
                   "micro_batches of its own");
  if (!target.root.empty() && options.num_stage_meshes > 0)
    return invalid("root and stage_meshes exclude each other: a stage's roots are among its "
                   "replicas along the axes of mesh; leave one of them out");
  target.stages = options.stages;
  target.microBatches = std::max(options.micro_batches, 1);
  target.schedule = orElse(options.schedule, "1f1b");
  COLL_EMBED_TRY(readList("stage_patterns", options.stage_patterns, options.num_stage_patterns,
                          target.stagePatterns));
  COLL_EMBED_TRY(
      readList("stage_meshes", options.stage_meshes, options.num_stage_meshes, target.stageMeshes));
  if (target.stages > 0 && !target.ranks)
    target.ranks = target.stages;
  return nullptr;
}

Outcome readDevice(const coll_compile_options &options, run::Target &target) {
  const std::string device = orElse(options.device, "cpu");
  llvm::Expected<std::string> gpu = run::parseDevice(device);
  if (!gpu)
    return invalid("device \"" + device + "\": " + llvm::toString(gpu.takeError()));
  target.gpu = std::move(*gpu);
  target.fuseAttention = !target.gpu.empty() && kernels::kernelsAvailable().ok();
  target.epilogues = llvm::cantFail(run::parseEpilogues("auto", !target.gpu.empty()));
  target.convolutions = !target.gpu.empty() && kernels::convolutionsAvailable().ok();
  if (!options.matmul_precision)
    return nullptr;
  if (target.gpu.empty())
    return invalid("matmul_precision needs a GPU as device: CPUs do not round factors");
  llvm::Expected<std::string> precision = run::parsePrecision(options.matmul_precision);
  if (!precision)
    return invalid("matmul_precision \"" + std::string(options.matmul_precision) +
                   "\": " + llvm::toString(precision.takeError()));
  target.precision = std::move(*precision);
  return nullptr;
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
  COLL_EMBED_TRY(readList("shards", options.shards, options.num_shards, target.shards));
  if (target.strategy == "none" && target.ranks.value_or(1) > 1)
    return invalid("strategy none is for one rank, not for " + std::to_string(*target.ranks));
  COLL_EMBED_TRY(readRoots(options, target));
  COLL_EMBED_TRY(readStages(options, target));
  COLL_EMBED_TRY(readDevice(options, target));
  target.verify = !options.skip_proof;
  return nullptr;
}

// The first diagnostic is the failure, the others and the phase that it ended are notes.
Outcome refuse(const std::string &phase, const std::vector<MessageText> &messages) {
  Outcome failure = fail(COLL_COMPILE, phase);
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

// The program that stands beside this library, unless the caller names another.
Outcome findParser(const coll_compile_options &options, run::ParserProcess &parser) {
  if (options.parser_timeout_us < 0)
    return invalid("parser_timeout_us is " + std::to_string(options.parser_timeout_us) +
                   ": expected 0 or more");
  if (options.parser_timeout_us > 0)
    parser.timeoutUs = options.parser_timeout_us;
  if (options.parser_memory > 0)
    parser.memoryBytes = options.parser_memory;
  const std::string library = rt::dl::fileOf(reinterpret_cast<const void *>(&coll_compile));
  parser.program =
      options.parser ? options.parser : library.substr(0, library.rfind('/') + 1) + "coll-parser";
  if (access(parser.program.c_str(), X_OK) != 0)
    return fail(COLL_UNSUPPORTED, "'" + parser.program +
                                      "', which parses steps apart, is not a program that can be "
                                      "started: name coll-parser in coll_compile_options.parser");
  return nullptr;
}

using Say = llvm::function_ref<void(const run::Message &)>;

// `bytecode` is the step as its parser has left it.
Outcome parseApart(const coll_compile_options &options, const run::Request &request,
                   const std::vector<MessageText> &messages, Say say, std::string &bytecode) {
  run::ParserProcess parser;
  COLL_EMBED_TRY(findParser(options, parser));
  run::ParsedApart parsed = run::parseApart(parser, request.name, request.text, request.stateArgs);
  for (const run::Message &message : parsed.messages)
    say(message);
  bytecode = std::move(parsed.bytecode);
  switch (parsed.end) {
  case run::ParsedApart::End::Parsed:
    return nullptr;
  case run::ParsedApart::End::Unavailable:
    return fail(COLL_UNSUPPORTED, parsed.why);
  case run::ParsedApart::End::TimedOut:
    return fail(COLL_TIMEOUT, parsed.why);
  case run::ParsedApart::End::Refused:
  case run::ParsedApart::End::Crashed:
    return refuse(parsed.why, messages);
  }
  return nullptr;
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

int serveParser() { return run::serveParser(STDIN_FILENO); }

Outcome compileStep(const Context &context, std::string_view text,
                    const coll_compile_options &options, std::shared_ptr<Executable> &executable) {
  run::Request request;
  request.name = options.name;
  request.text = {text.data(), text.size()};
  if (!request.text.starts_with(kBytecodeMagic)) // whose last byte may be a zero of its own
    request.isTerminated = request.text.consume_back(llvm::StringRef("\0", 1));
  if (options.state_args >= 0)
    request.stateArgs = options.state_args;
  COLL_EMBED_TRY(readTarget(options, request.target));
  request.cacheFolder = context.cacheFolder();
  request.cacheBytes = context.cacheBytes();
  request.keepStages = options.keep_stages != 0;
  std::vector<MessageText> messages;
  auto say = [&](const run::Message &message) {
    const int32_t severity = severityOf(message.severity);
    messages.push_back({severity, message.location, message.text});
    for (const run::Message &note : message.notes)
      messages.push_back({COLL_NOTE, note.location, note.text});
    context.say(static_cast<coll_severity>(severity),
                message.rendered.empty() ? message.text : message.rendered);
  };
  request.onMessage = say;
  std::string bytecode;
  if (options.parse_apart) {
    COLL_EMBED_TRY(parseApart(options, request, messages, say, bytecode));
    request.text = bytecode;
  }
  llvm::Expected<run::Executable> compiled = run::compile(request);
  if (!compiled)
    return refuse(llvm::toString(compiled.takeError()), messages);
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
