// plugin.h - backends that users bring as shared libraries (backend_plugin.h).

#ifndef COLL_RUNTIME_BACKEND_PLUGIN_PLUGIN_H
#define COLL_RUNTIME_BACKEND_PLUGIN_PLUGIN_H

#include "runtime/backend/backend.h"

#include <string_view>

namespace coll::rt::plugin {

// A backend's name begins with this prefix if the rest is the path of a library.
inline constexpr std::string_view kPrefix = "plugin:";

inline bool isPlugin(std::string_view name) { return name.substr(0, kPrefix.size()) == kPrefix; }

// Loads the library, which becomes code of this process, and creates its backend. An error names
// the library and what is missing in it.
Result<std::unique_ptr<Backend>> createBackend(const std::string &path,
                                               const BackendOptions &options);

} // namespace coll::rt::plugin

#endif // COLL_RUNTIME_BACKEND_PLUGIN_PLUGIN_H
