// table_file.h - reads the file that COLL_ROUTES names. The part "routes" belongs to
// runtime/backend/auto/routes.h, "paths" to base/paths.h.

#ifndef COLL_RUNTIME_BASE_TABLE_FILE_H
#define COLL_RUNTIME_BASE_TABLE_FILE_H

#include "runtime/base/status.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace coll::rt {

// The text of a file that is not too large for a table.
Result<std::string> readTableFile(const std::string &path);

// JSON of the right format and version. kCollInvalidCall names file, line and column, or says what
// is wrong. `name` is the file's name in messages.
Result<nlohmann::json> parseTable(const std::string &text, const std::string &name);

// "expected a number, not "4K"". Lists, objects and long texts are named by kind only, because they
// may be as deep and as long as the file.
std::string unexpected(const char *wanted, const nlohmann::json &value);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_TABLE_FILE_H
