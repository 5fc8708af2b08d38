# What most sources include is compiled once: the compiler, unit tests, the other tools and the runtime
# have a precompiled header each. Sources compile without them, too: tools/lint/check_headers.py says where
# that is checked.

# coll_precompile(NAME header…): the target NAME, of which others take the precompiled header of these
# headers and of the C++ library's common ones. It has the options of the folder that makes it, and
# its users must have the same level of optimisation.
function(coll_precompile name)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/precompiled.cc)
  target_precompile_headers(${name} PRIVATE ${ARGN}
    <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstring> <functional> <map>
    <memory> <mutex> <optional> <string> <thread> <unordered_map> <utility> <vector>)
endfunction()

# coll_use_precompiled(NAME folder…): the targets below the folders, if they have no precompiled header
# yet, take that of NAME. A source in C would want a precompiled header of its own.
function(coll_use_precompiled name)
  foreach(folder ${ARGN})
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target ${targets})
      get_target_property(type ${target} TYPE)
      get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
      get_target_property(own ${target} PRECOMPILE_HEADERS)
      get_target_property(sources ${target} SOURCES)
      if(type MATCHES "LIBRARY|EXECUTABLE" AND NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT reused AND NOT own
         AND NOT sources MATCHES "\\.c(;|$)")
        target_precompile_headers(${target} REUSE_FROM ${name})
      endif()
    endforeach()
    get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    coll_use_precompiled(${name} ${folders})
  endforeach()
endfunction()
