#include "test/fuzz/data/inputs.h"

#include "driver/batches.h"
#include "driver/dataset.h"
#include "runtime/program/program.h"
#include "test/fuzz/memory_file.h"
#include "tools/coll-run/options.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <sstream>
#include <zip.h>

namespace coll::fuzz {
namespace {

Report toReport(llvm::Error error) {
  if (!error)
    return {};
  return {Verdict::Refused, llvm::toString(std::move(error))};
}

// Arguments of a step that the valid archives fit.
std::vector<rt::TensorInfo> stateInfos() {
  rt::TensorInfo info;
  info.role = "state";
  info.shape = info.local = {2, 3};
  return {info};
}
std::vector<rt::TensorInfo> batchInfos() {
  rt::TensorInfo info;
  info.role = "batch";
  info.shape = info.local = {4};
  info.dtype = kCollI32;
  return {info};
}

// Reads everything in the archive, in every way that coll-run does.
Report checkArchive(const std::string &bytes) {
  MemoryFile file(bytes);
  auto archive = run::NpzFile::open(file.path());
  if (!archive)
    return toReport(archive.takeError());
  llvm::Error error = llvm::Error::success();
  for (const std::string &name : archive->names())
    if (auto array = archive->read(name))
      run::printTensor(llvm::nulls(), name, run::toTensor(std::move(*array)));
    else
      error = llvm::joinErrors(std::move(error), array.takeError());
  if (auto state = run::readState(*archive, stateInfos()); !state)
    error = llvm::joinErrors(std::move(error), state.takeError());
  if (auto batches = run::makeFileBatches(*archive, batchInfos()); !batches)
    error = llvm::joinErrors(std::move(error), batches.takeError());
  if (auto dataset = run::Dataset::open(file.path(), batchInfos()); !dataset)
    error = llvm::joinErrors(std::move(error), dataset.takeError());
  return toReport(std::move(error));
}

Report checkHeader(const std::string &bytes) {
  auto header = run::parseNpyHeader(bytes);
  return header ? Report() : toReport(header.takeError());
}

// An archive around the bytes of one array, so that its checksum is right.
Report checkArray(const std::string &bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *out = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(out);
  zip_t *archive = zip_open_from_source(out, ZIP_TRUNCATE, &error);
  zip_source_t *in = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  zip_file_add(archive, "state_in_0.npy", in, 0);
  zip_close(archive);
  zip_source_open(out);
  zip_stat_t stat;
  zip_source_stat(out, &stat);
  std::string whole(stat.size, '\0');
  zip_source_read(out, whole.data(), whole.size());
  zip_source_close(out);
  zip_source_free(out);
  return checkArchive(whole);
}

Report checkDescriptor(const std::string &bytes) {
  auto descriptor = rt::Descriptor::parse(bytes);
  return descriptor ? Report() : Report{Verdict::Refused, descriptor.status().toString()};
}

Report checkCommandLine(const std::string &text) {
  std::vector<std::string> words = {"coll-run"};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    words.push_back(line.c_str()); // a word ends at its first zero
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  llvm::cl::ResetAllOptionOccurrences();
  auto options = run::parseOptions(int(argv.size()), argv.data());
  return options ? Report() : toReport(options.takeError());
}

run::NpyArray makeArray(run::NpyType type, std::vector<int64_t> shape) {
  run::NpyArray array{type, std::move(shape), {}};
  int64_t bytes = run::bytesOf(type);
  for (int64_t extent : array.shape)
    bytes *= extent;
  array.data.assign(size_t(bytes), 1);
  return array;
}

std::string readWhole(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
}

std::string makeArchive() {
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("fuzz", "npz", path))
    return "";
  using run::NpyType;
  llvm::Error error = run::writeNpz(path, {{"state_in_0", makeArray(NpyType::F32, {2, 3})},
                                           {"batch_0_0", makeArray(NpyType::I32, {4})},
                                           {"train_x", makeArray(NpyType::U8, {5, 2})},
                                           {"train_y", makeArray(NpyType::I64, {5})},
                                           {"flags", makeArray(NpyType::Bool, {0})},
                                           {"losses", makeArray(NpyType::F64, {})}});
  std::string bytes = error ? "" : readWhole(std::string(path));
  llvm::consumeError(std::move(error));
  llvm::sys::fs::remove(path);
  return bytes;
}

constexpr const char *kDescriptor =
    R"({"abi":9,"name":"step","mesh":{"name":"m","axes":[{"name":"dp","size":2},{"name":"tp","size":3}]},)"
    R"("ranks":[[0,3],[5,5]],"groups":[[[0,1],[2,3]],[[0]]],"ops":[{"kind":"all_reduce","loc":"a.py:1:2",)"
    R"("name":"grad","bytes":16,"count":4,"dtype":"f32","reduction":"sum","group":0,"why":"w"}],)"
    R"("args":[{"name":"x","role":"state","dtype":"f32","shape":[7,3],"local":[4,3],)"
    R"("sharding":[{"axes":["dp"],"unit":1},{"axes":[],"unit":1}]}],)"
    R"("results":[{"name":"x","role":"state","dtype":"f32","shape":[7,3],"local":[4,3],)"
    R"("sharding":[{"axes":["dp"],"unit":1},{"axes":[],"unit":1}],"arg":0}],"arena_bytes":128})";

} // namespace

std::vector<InputKind> makeInputKinds() {
  std::string header = run::makeNpyHeader(run::NpyType::F32, {2, 3});
  std::string array = header + std::string(24, '\1');
  return {
      {"archive", ".npz", {makeArchive()}, checkArchive},
      {"array",
       ".npy",
       {array, run::makeNpyHeader(run::NpyType::I64, {}) + "12345678"},
       checkArray},
      {"header", ".npy", {header, run::makeNpyHeader(run::NpyType::BF16, {0, 1, 9})}, checkHeader},
      {"descriptor", ".json", {kDescriptor}, checkDescriptor},
      {"flags",
       ".txt",
       {"step.mlir\n--ranks=4\n--state-args=2\n--data=a.npz\n--check\n--steps=3\n",
        "step.mlir\n--mesh=dp=2,tp=3\n--check\n--rtol=1e-3\n--atol=0\n--timeout=10\n--save=s.npz\n-"
        "-seed=7\n",
        "a.mlir\n--dataset=d.npz\n--epochs=2\n--batch-size=8\n--eval=e.mlir\n--print\n"},
       checkCommandLine}};
}

} // namespace coll::fuzz
