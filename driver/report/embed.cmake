# Writes OUTPUT, a C++ file that defines what templates.h declares, from the files of FOLDER.
# Run as a script: cmake -DFOLDER=… -DOUTPUT=… -P embed.cmake

# Appends to `code` the bytes as the initialiser of an array: string literals are limited in length.
function(append_bytes name file)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  set(code "${code}static const char ${name}[] = {${bytes}0};\n" PARENT_SCOPE)
endfunction()

set(code "// Made from the files of templates/.\n#include \"driver/report/templates.h\"\n\n")
append_bytes(page ${FOLDER}/page.html)
append_bytes(style ${FOLDER}/style.css)
append_bytes(script ${FOLDER}/script.js)
file(GLOB parts ${FOLDER}/parts/*.html)
set(table "")
foreach(part ${parts})
  get_filename_component(name ${part} NAME_WE)
  append_bytes(part_${name} ${part})
  string(APPEND table "    {\"${name}\", llvm::StringRef(part_${name}, sizeof(part_${name}) - 1)},\n")
endforeach()
string(APPEND code "
namespace coll::run {
const llvm::StringRef kTemplatePage(page, sizeof(page) - 1);
const llvm::StringRef kTemplateStyle(style, sizeof(style) - 1);
const llvm::StringRef kTemplateScript(script, sizeof(script) - 1);
static const std::pair<llvm::StringRef, llvm::StringRef> parts[] = {
${table}};
const llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> kTemplateParts(parts);
} // namespace coll::run
")
file(WRITE ${OUTPUT} "${code}")
