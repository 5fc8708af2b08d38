#include "compiler/compiler_identity.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

using namespace mlir::coll;

namespace {
struct Identity {
  std::string text;
  bool isComplete = true;
};
} // namespace

static bool isWithin(const dl_phdr_info &object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = object.dlpi_phdr[i];
    uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz)
      return true;
  }
  return false;
}

/// The build ID among the notes of a segment, or empty.
static llvm::StringRef findBuildId(llvm::StringRef notes) {
  while (notes.size() > sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, notes.data(), sizeof(note));
    notes = notes.drop_front(sizeof(note));
    llvm::StringRef name = notes.take_front(note.n_namesz);
    notes = notes.drop_front(std::min<size_t>(llvm::alignTo(note.n_namesz, 4), notes.size()));
    if (note.n_type == NT_GNU_BUILD_ID && name == llvm::StringRef("GNU\0", 4))
      return notes.take_front(note.n_descsz);
    notes = notes.drop_front(std::min<size_t>(llvm::alignTo(note.n_descsz, 4), notes.size()));
  }
  return "";
}

static std::string identify(const dl_phdr_info &object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = object.dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    auto *notes = reinterpret_cast<const char *>(object.dlpi_addr + header.p_vaddr);
    if (llvm::StringRef id = findBuildId({notes, header.p_memsz}); !id.empty())
      return llvm::toHex(id, /*LowerCase=*/true);
  }
  const char *path = *object.dlpi_name ? object.dlpi_name : "/proc/self/exe";
  struct stat status;
  if (stat(path, &status) != 0)
    return "";
  return (llvm::Twine(status.st_size) + "@" + llvm::Twine(status.st_mtim.tv_sec) + "." +
          llvm::Twine(status.st_mtim.tv_nsec))
      .str();
}

/// Adds the object that this code is in, and the libraries of MLIR and LLVM.
static int visit(dl_phdr_info *object, size_t, void *data) {
  auto &identity = *static_cast<Identity *>(data);
  llvm::StringRef name = llvm::sys::path::filename(object->dlpi_name);
  if (!isWithin(*object, reinterpret_cast<uintptr_t>(&visit)) && !name.starts_with("libMLIR") &&
      !name.starts_with("libLLVM"))
    return 0;
  std::string id = identify(*object);
  identity.isComplete &= !id.empty();
  identity.text += id + " ";
  return 0;
}

static std::string describeHost() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::sys::getProcessTriple() << ' ' << llvm::sys::getHostCPUName();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::vector<llvm::StringRef> names;
  for (const auto &feature : features)
    if (feature.second)
      names.push_back(feature.first());
  llvm::sort(names);
  os << ' ' << llvm::join(names, ",");
  return text;
}

std::string mlir::coll::describeCompiler() {
  Identity identity;
  dl_iterate_phdr(visit, &identity);
  return identity.isComplete ? identity.text + describeHost() : "";
}
