//===- path_pattern.h - names of files with fields in them -----------*- C++ -*-===//

#ifndef COLL_RUNTIME_BASE_PATH_PATTERN_H
#define COLL_RUNTIME_BASE_PATH_PATTERN_H

#include <initializer_list>
#include <string>
#include <utility>

namespace coll::rt {

/// The pattern with each `%X` whose letter is in `fields` replaced by that text, and `%p` by this
/// process's id. Every other `%` stays as it is.
std::string expandPath(const std::string &pattern,
                       std::initializer_list<std::pair<char, std::string>> fields);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_PATH_PATTERN_H
