//===- step_compiler.cc - from step files to code, by way of the cache -----------===//

#include "compiler/step_compiler.h"

#include "compiler/auto_strategy.h"
#include "compiler/compiler_identity.h"
#include "compiler/error.h"
#include "compiler/untrusted_text.h"
#include "passes/export/disturb_roundings.h"
#include "passes/passes.h"
#include "plan/schedule/schedule.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/EndianStream.h"

namespace coll::run {
namespace {

using mlir::coll::CodeKey;
using mlir::coll::ObjectCode;

// Changes with the content of an entry.
constexpr llvm::StringLiteral kEntryKind = "coll step 5";
// The mesh axis of pipeline stages.
constexpr llvm::StringLiteral kStageAxis = "pp";
// Longer than any compilation takes; after it this process compiles the step itself.
constexpr std::chrono::minutes kLockTimeout{2};

mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  mlir::coll::registerCollDialects(registry);
  return registry;
}

/// As coll-insert-strategy takes it; one axis "dp" where the user named none.
std::string describeMesh(const Target &target, int64_t ranks) {
  std::string text;
  for (const MeshAxisOption &axis : target.mesh)
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text.empty() ? "dp=" + std::to_string(ranks) : text;
}

/// The mesh of one stage, as coll-insert-strategy takes it: the user's without its first axis,
/// which is that of the stages, or the replicas that --ranks leaves to each.
llvm::Expected<std::string> describeStageMesh(const Target &target) {
  if (target.mesh.empty()) {
    int64_t ranks = target.ranks.value_or(target.stages);
    if (ranks % target.stages != 0)
      return makeError("--ranks=" + llvm::Twine(ranks) +
                       " is no multiple of --stages=" + llvm::Twine(target.stages));
    return "dp=" + std::to_string(ranks / target.stages);
  }
  const MeshAxisOption &first = target.mesh.front();
  if (first.name != kStageAxis || first.size != target.stages)
    return makeError("--stages=" + llvm::Twine(target.stages) + " needs " + kStageAxis + "=" +
                     llvm::Twine(target.stages) + " as the first axis of --mesh");
  Target rest = target;
  rest.mesh.erase(rest.mesh.begin());
  return describeMesh(rest, 1);
}

llvm::Expected<CompileOptions> chooseStageOptions(const Target &target, CompileOptions options) {
  llvm::Expected<std::string> mesh = describeStageMesh(target);
  if (!mesh)
    return mesh.takeError();
  options.mesh = *mesh;
  options.strategy =
      target.strategy.empty() || target.strategy == "data-parallel" ? "data" : target.strategy;
  options.shards = target.shards;
  options.stages.stages = target.stages;
  options.stages.microBatches = target.microBatches;
  options.stages.schedule = target.schedule;
  options.stages.patterns = target.stagePatterns;
  options.stages.meshes = target.stageMeshes;
  options.roots.root = target.root;
  options.roots.route = target.route;
  return options;
}

llvm::Expected<CompileOptions> chooseOptions(const StepFile &file, const Target &target) {
  CompileOptions options;
  options.isShared = target.isShared;
  options.roots.staleness = target.staleness;
  options.gpu = target.gpu;
  options.precision = target.precision;
  options.fuseAttention = target.fuseAttention;
  options.convolutions = target.convolutions;
  options.epilogues = target.epilogues;
  if (target.isSingleDevice)
    return options;
  options.verify = target.verify;
  options.topology = target.topology;
  options.narrowSums = target.narrowSums;
  options.combineBytes = target.combineBytes.value_or(kCombineBytes);
  options.ranks = target.ranks.value_or(0);
  if (file.ir->level != Level::Step) {
    if (!target.strategy.empty() || !target.shards.empty() || target.stages > 0 ||
        !target.root.empty() || target.accumulate > 1 || target.staleness > 0)
      return makeError("--strategy, --shard, --stages, --root, --accumulate and --staleness are "
                       "for a step that is not distributed yet; '" +
                       file.path + "' is " + describe(file.ir->level));
    if (target.combineBytes && file.ir->level != Level::Annotated)
      return makeError("--combine is for a step that is not partitioned yet; '" + file.path +
                       "' is " + describe(file.ir->level));
    return options;
  }
  if (target.stages > 0)
    return chooseStageOptions(target, std::move(options));
  options.ranks = std::max<int64_t>(options.ranks, 1);
  options.roots.root = target.root;
  options.roots.route = target.route;
  options.accumulate = target.accumulate;
  if (target.strategy == "auto")
    return options; // searched for
  if (target.strategy != "none" && target.strategy != "data-parallel" &&
      (!target.strategy.empty() || !target.shards.empty())) {
    options.mesh = describeMesh(target, options.ranks);
    options.strategy = target.strategy;
    options.shards = target.shards;
    return options;
  }
  if (target.mesh.size() > 1)
    return makeError("a mesh with " + llvm::Twine(target.mesh.size()) +
                     " axes needs --strategy, --shard, or a step whose arguments carry shardings");
  options.dataParallel = options.ranks > 1 || options.accumulate > 1 ||
                         !options.roots.root.empty() || target.strategy == "data-parallel";
  if (!target.mesh.empty())
    options.axis = target.mesh[0].name;
  return options;
}

/// Chooses mesh and strategies by cost.
llvm::Expected<PlanSearch> search(const StepFile &file, const Target &target,
                                  CompileOptions &options) {
  SearchOptions searched;
  searched.ranks = options.ranks;
  searched.mesh = target.mesh;
  searched.shards = target.shards;
  searched.topology = target.topology;
  searched.narrowSums = target.narrowSums;
  searched.combineBytes = target.combineBytes.value_or(kCombineBytes);
  searched.memoryLimit = target.memoryLimit;
  llvm::Expected<PlanSearch> found = searchPlan(*file.ir, searched);
  if (!found)
    return found;
  const PlanCandidate &best = found->plans.front();
  options.mesh = best.mesh;
  options.strategy = best.strategy;
  options.shards = best.shards;
  options.shards.insert(options.shards.end(), target.shards.begin(), target.shards.end());
  return found;
}

/// Everything of the command line that chooseOptions() and the import look at.
std::string describeOptions(const StepFile &file, const Target &target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "state-args=" << file.stateArgs.value_or(-1) << " shared=" << target.isShared
     << " staleness=" << target.staleness << " gpu=" << target.gpu
     << " precision=" << target.precision << " fuse-attention=" << target.fuseAttention
     << " convolutions=" << target.convolutions << " epilogues=" << target.epilogues;
  if (target.isSingleDevice) {
    os << " single-device roundings=" << static_cast<int>(target.roundings) << ','
       << target.roundingSeed;
    return text;
  }
  os << " ranks=" << target.ranks.value_or(0) << " strategy=" << target.strategy
     << " root=" << target.root << " route=" << target.route << " accumulate=" << target.accumulate
     << " verify=" << target.verify << " narrow-sums=" << target.narrowSums
     << " combine=" << target.combineBytes.value_or(kCombineBytes)
     << " topology=" << target.topology << " memory-limit=" << target.memoryLimit << " mesh=";
  for (const MeshAxisOption &axis : target.mesh)
    os << axis.name << '=' << axis.size << ',';
  for (const std::string &shard : target.shards)
    os << " shard=" << shard;
  if (target.stages == 0)
    return text;
  os << " stages=" << target.stages << " micro-batches=" << target.microBatches
     << " schedule=" << target.schedule;
  if (plan::isTableFile(target.schedule)) // the table itself, which may change
    if (auto table = llvm::MemoryBuffer::getFile(target.schedule))
      os << ":" << (*table)->getBuffer();
  for (const std::string &pattern : target.stagePatterns)
    os << " stage=" << pattern;
  for (const std::string &mesh : target.stageMeshes)
    os << " stage-mesh=" << mesh;
  return text;
}

/// The data that is kept beside the code.
struct EntryHead {
  std::vector<Message> messages;
  Explanation explanation;
};

bool fromJSON(const llvm::json::Value &value, EntryHead &head, llvm::json::Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("messages", head.messages) && map.map("explanation", head.explanation);
}

/// An entry is the length of the head, this head, and the code.
std::string makeHead(llvm::ArrayRef<Message> messages, const Explanation &explanation) {
  std::string json;
  llvm::raw_string_ostream(json) << llvm::json::Value(
      llvm::json::Object{{"messages", llvm::json::Array(std::vector<Message>(messages))},
                         {"explanation", toJSON(explanation)}});
  return json;
}

std::optional<ObjectCode> readEntry(llvm::StringRef entry, EntryHead &head) {
  if (entry.size() < sizeof(uint64_t))
    return std::nullopt;
  uint64_t size = llvm::support::endian::read64le(entry.data());
  entry = entry.drop_front(sizeof(uint64_t));
  if (size > entry.size())
    return std::nullopt;
  auto json = llvm::json::parse<EntryHead>(entry.take_front(size));
  if (!json) {
    llvm::consumeError(json.takeError());
    return std::nullopt;
  }
  head = std::move(*json);
  return ObjectCode::read(entry.drop_front(size));
}

std::string shown(const CodeKey &key) {
  return llvm::toHex(llvm::ArrayRef(key).take_front(8), /*LowerCase=*/true);
}

} // namespace

StepCompiler::StepCompiler(MessageHandler handler)
    : context_(makeRegistry(), mlir::MLIRContext::Threading::DISABLED),
      messages_(context_, std::move(handler)) {
  context_.setThreadPool(threads_);
  context_.allowUnregisteredDialects();
  context_.printOpOnDiagnostic(false);
}

void StepCompiler::useCache(llvm::StringRef folder, uint64_t maxBytes) {
  compiler_ = mlir::coll::describeCompiler();
  if (compiler_.empty())
    return messages_.note("no compile cache: this build cannot be told from others");
  auto cache = mlir::coll::CodeCache::open(folder, maxBytes);
  if (!cache)
    return messages_.note("no compile cache: " + llvm::toString(cache.takeError()));
  cache_ = std::move(*cache);
}

llvm::Expected<StepFile> StepCompiler::open(llvm::StringRef path,
                                            std::optional<int64_t> stateArgs) {
  auto text = mlir::coll::readUntrusted(path);
  if (!text)
    return text.takeError();
  return open(path, std::move(*text), stateArgs);
}

StepFile StepCompiler::open(llvm::StringRef path, std::unique_ptr<llvm::MemoryBuffer> text,
                            std::optional<int64_t> stateArgs) {
  StepFile file;
  file.path = path.str();
  file.stateArgs = stateArgs;
  file.text = std::move(text);
  return file;
}

llvm::Error StepCompiler::parse(StepFile &file) {
  if (file.ir)
    return llvm::Error::success();
  size_t before = messages_.all().size();
  auto ir = loadStep(context_, file.path, file.text->getBuffer(), file.stateArgs, stages_,
                     [this](Message message) { messages_.say(std::move(message)); });
  if (!ir)
    return ir.takeError();
  if (file.isReadOnce)
    file.text.reset();
  if (!ir->note.empty())
    messages_.note(ir->note);
  file.ir = std::move(*ir);
  file.messages.assign(messages_.all().begin() + before, messages_.all().end());
  return llvm::Error::success();
}

llvm::Expected<ObjectCode> StepCompiler::compileAnew(StepFile &file, const Target &target,
                                                     Explanation &explanation) {
  if (llvm::Error error = parse(file))
    return error;
  llvm::Expected<CompileOptions> options = chooseOptions(file, target);
  if (!options)
    return options.takeError();
  if (!target.isSingleDevice) {
    std::optional<PlanSearch> searched;
    if (target.strategy == "auto" && options->ranks > 1) {
      llvm::Expected<PlanSearch> found = search(file, target, *options);
      if (!found)
        return found.takeError();
      searched = std::move(*found);
    }
    auto code = compileStep(file.ir->clone(), *options, stages_, &explanation);
    explanation.search = std::move(searched);
    return code;
  }
  llvm::Expected<StepIr> single = toSingleDevice(*file.ir);
  if (!single)
    return single.takeError();
  if (target.roundings != mlir::coll::Roundings::Exact)
    mlir::coll::disturbRoundings(*single->module, target.roundings, target.roundingSeed);
  return compileStep(std::move(*single), *options, nullptr);
}

llvm::Expected<CodeKey> StepCompiler::makeKey(const StepFile &file, const Target &target) const {
  std::unique_ptr<llvm::MemoryBuffer> topology;
  if (!target.topology.empty()) {
    auto read = mlir::coll::readUntrusted(target.topology);
    if (!read)
      return read.takeError();
    topology = std::move(*read);
  }
  // Operations without a location of their own are reported at this path.
  return mlir::coll::makeCodeKey({kEntryKind, compiler_, file.path, describeOptions(file, target),
                                  topology ? topology->getBuffer() : llvm::StringRef(),
                                  file.text->getBuffer()});
}

std::optional<ObjectCode> StepCompiler::findCode(const CodeKey &key, Explanation &explanation) {
  auto entry = cache_->find(key);
  if (!entry) {
    messages_.note("compile cache: " + llvm::toString(entry.takeError()) + "; compiling again");
    return std::nullopt;
  }
  if (!*entry)
    return std::nullopt;
  EntryHead head;
  std::optional<ObjectCode> code = readEntry((*entry)->getBuffer(), head);
  if (!code)
    return std::nullopt;
  logCacheUse_("compile cache: found " + shown(key));
  for (Message &message : head.messages)
    messages_.say(std::move(message));
  explanation = std::move(head.explanation);
  return code;
}

void StepCompiler::keepCode(const CodeKey &key, const ObjectCode &code,
                            llvm::ArrayRef<Message> messages, const Explanation &explanation) {
  const std::string head = makeHead(messages, explanation);
  auto write = [&](llvm::raw_ostream &os) {
    llvm::support::endian::write<uint64_t>(os, head.size(), llvm::endianness::little);
    os << head;
    code.write(os);
  };
  if (llvm::Error error = cache_->store(key, write))
    return messages_.note("compile cache: " + llvm::toString(std::move(error)));
  logCacheUse_("compile cache: kept " + shown(key));
}

llvm::Expected<ObjectCode> StepCompiler::compile(StepFile &file, const Target &target,
                                                 CompileDetails *details) {
  CompileDetails ignored;
  if (!details)
    details = &ignored;
  if (!cache_ || stages_) {
    details->isCached = false;
    return compileAnew(file, target, details->explanation);
  }
  llvm::Expected<CodeKey> key = makeKey(file, target);
  if (!key)
    return key.takeError();
  details->isCached = true;
  if (std::optional<ObjectCode> code = findCode(*key, details->explanation))
    return std::move(*code);
  mlir::coll::CodeCache::Lock lock = cache_->lock(*key, kLockTimeout);
  if (lock.isHeld()) // who held it before has perhaps made the entry
    if (std::optional<ObjectCode> code = findCode(*key, details->explanation))
      return std::move(*code);
  details->isCached = false;
  if (llvm::Error error = parse(file))
    return error;
  std::vector<Message> messages = file.messages;
  size_t before = messages_.all().size();
  auto code = compileAnew(file, target, details->explanation);
  if (!code)
    return code.takeError();
  messages.insert(messages.end(), messages_.all().begin() + before, messages_.all().end());
  keepCode(*key, *code, messages, details->explanation);
  return code;
}

} // namespace coll::run
