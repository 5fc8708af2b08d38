#include "runtime/program/step_library.h"

#include "runtime/dl/library.h"
#include "runtime/step/abi/table.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <sstream>

namespace coll::rt {

namespace {

// There can be no more classes than ranks.
constexpr uint64_t kMaxClasses = 1024;

#if defined(__x86_64__)
// Features that exist on some machines only; the other features that the compiler knows come with
// these. A name that is not in the list is accepted.
bool hasFeature(const std::string &name) {
#define COLL_FEATURE(text)                                                                         \
  if (name == text)                                                                                \
    return __builtin_cpu_supports(text) != 0;
  COLL_FEATURE("sse4.2")
  COLL_FEATURE("avx")
  COLL_FEATURE("avx2")
  COLL_FEATURE("fma")
  COLL_FEATURE("bmi")
  COLL_FEATURE("bmi2")
  COLL_FEATURE("avx512f")
  COLL_FEATURE("avx512bw")
  COLL_FEATURE("avx512cd")
  COLL_FEATURE("avx512dq")
  COLL_FEATURE("avx512vl")
  COLL_FEATURE("avx512vnni")
#undef COLL_FEATURE
  return true;
}
#else
bool hasFeature(const std::string &) { return true; }
#endif

Status checkFeatures(const char *features) {
  std::istringstream names(features);
  for (std::string name; names >> name;)
    if (!hasFeature(name))
      return {kCollUnsupported, "it was compiled for a processor with " + name +
                                    ", which this one does not have: compile it on this machine"};
  return {};
}

// The loader maps a file without checking its size, and the process dies if a page is missing.
Status checkSegments(const std::string &path) {
  const Status cut = Status::invalid("it is not a complete shared object for this machine");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Elf64_Ehdr header;
  file.seekg(0).read(reinterpret_cast<char *>(&header), sizeof(header));
  if (!file || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > size)
    return cut;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(reinterpret_cast<char *>(&segment), sizeof(segment)) ||
        segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      return cut;
  }
  return {};
}

Status checkTable(const CollStepTable *table) {
  if (!table || table->magic != kCollStepMagic)
    return Status::invalid("it is a shared object, but not a compiled step");
  if (table->version != kCollStepVersion)
    return {kCollUnsupported, "it is a compiled step of version " + std::to_string(table->version) +
                                  "; this program reads version " +
                                  std::to_string(int(kCollStepVersion)) + ": compile it again"};
  if (table->num_classes == 0 || table->num_classes > kMaxClasses || !table->classes ||
      !table->features)
    return Status::invalid("its table of programs is damaged");
  return checkFeatures(table->features);
}

} // namespace

bool isSharedObject(const std::string &path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  return std::memcmp(magic,
                     "\x7f"
                     "ELF",
                     sizeof(magic)) == 0;
}

Result<std::vector<Program>> loadStepLibrary(const std::string &path) {
  if (Status status = checkSegments(path); !status.ok())
    return status.annotate("'" + path + "'");
  // The loader searches the system's libraries for a name without a slash.
  Result<dl::Library> library =
      dl::Library::open(path.find('/') == std::string::npos ? "./" + path : path);
  if (!library)
    return library.status().annotate("'" + path + "'");
  const auto *table = library->symbol<const CollStepTable>(COLL_STEP_TABLE_SYMBOL);
  if (Status status = checkTable(table); !status.ok())
    return status.annotate("'" + path + "'");
  std::vector<Program> programs;
  for (uint64_t c = 0; c < table->num_classes; ++c) {
    const CollStepClass &from = table->classes[c];
    if (!from.descriptor || !from.step)
      return Status::invalid("'" + path + "': program " + std::to_string(c) + " is damaged");
    Result<Program> program =
        Program::create(from.descriptor, from.step, from.init,
                        {from.gpu_image, from.gpu_kernels, from.constants, from.constants_bytes});
    if (!program)
      return program.status().annotate("'" + path + "'");
    programs.push_back(program.take());
  }
  return programs;
}

} // namespace coll::rt
