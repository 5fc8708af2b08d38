#include "embed/c/compile.h"

#include "embed/c/structs.h"
#include "runtime/program/step_library.h"

using namespace coll::embed;

static coll_compile_options defaultOptions() {
  coll_compile_options options = {};
  options.struct_size = sizeof(options);
  options.name = "step";
  options.state_args = -1;
  return options;
}

coll_error coll_compile_options_init(coll_compile_options *options, size_t size) {
  return guarded([&]() -> Outcome {
    if (!options)
      return invalid("options is null");
    COLL_EMBED_TRY(checkStructSize(size, "coll_compile_options"));
    options->struct_size = size;
    return writeStruct(defaultOptions(), "coll_compile_options", options);
  });
}

coll_error coll_compile(coll_context context, const void *text, size_t bytes,
                        const coll_compile_options *given, coll_executable *executable) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Context> object;
    COLL_EMBED_TRY(findObject(context, "context", object));
    if (!text || bytes == 0)
      return invalid("the step's text is empty");
    if (!executable)
      return invalid("executable is null");
    coll_compile_options options = defaultOptions();
    if (given)
      COLL_EMBED_TRY(readStruct(given, "coll_compile_options", options));
    options.name = orElse(options.name, "step");
    std::shared_ptr<Executable> made;
    COLL_EMBED_TRY(compileStep(*object, {static_cast<const char *>(text), bytes}, options, made));
    makeHandle(std::move(made), executable);
    return nullptr;
  });
}

int32_t coll_parser_main(void) { return serveParser(); }

coll_error coll_load(coll_context context, const char *path, coll_executable *executable) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Context> object;
    COLL_EMBED_TRY(findObject(context, "context", object));
    if (!path || !executable)
      return invalid(path ? "executable is null" : "path is null");
    coll::rt::Result<std::vector<coll::rt::Program>> programs = coll::rt::loadStepLibrary(path);
    if (!programs)
      return fail(programs.status());
    makeHandle(std::make_shared<Executable>(StepCode{programs.take(), nullptr}), executable);
    return nullptr;
  });
}
