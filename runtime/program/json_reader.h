// json_reader.h - reads untrusted JSON: the first error is kept, with the path to it.

#ifndef COLL_RUNTIME_PROGRAM_JSON_READER_H
#define COLL_RUNTIME_PROGRAM_JSON_READER_H

#include "runtime/base/status.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace coll::rt {

using Json = nlohmann::json;

// Finds where a text stops being JSON; only used for the error message.
struct SyntaxProbe : nlohmann::json_sax<Json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string &, const Json::exception &) override {
    position = at;
    return false;
  }
  std::size_t position = 0;
};

// The value of a text; `what` names it in the error.
inline Result<Json> parseJson(std::string_view text, const char *what) {
  Json root = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!root.is_discarded())
    return root;
  SyntaxProbe probe;
  Json::sax_parse(text.begin(), text.end(), &probe);
  return Status::invalid(std::string(what) + ": not valid JSON near byte " +
                         std::to_string(probe.position));
}

// Reads fields of JSON values. Keeps the first error, with the path to it; afterwards all reads
// return defaults.
class JsonReader {
public:
  bool ok() const { return error_.empty(); }
  const std::string &error() const { return error_; }

  void fail(const std::string &path, const std::string &what) {
    if (error_.empty())
      error_ = path + ": " + what;
  }

  // The field, or null (no failure) if it is absent or JSON's null.
  const Json *find(const Json &object, const char *key) const {
    if (!object.is_object())
      return nullptr;
    auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
  }

  int64_t integer(const Json &value, const std::string &path, int64_t min, int64_t max) {
    bool fits = value.is_number_integer() &&
                (!value.is_number_unsigned() ||
                 value.get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max()));
    int64_t number = fits ? value.get<int64_t>() : 0;
    if (fits && number >= min && number <= max)
      return number;
    fail(path, "expected an integer from " + std::to_string(min) + " to " + std::to_string(max));
    return min;
  }

  int64_t integerField(const Json &object, const char *key, const std::string &path,
                       int64_t defaultValue, int64_t min, int64_t max) {
    const Json *value = find(object, key);
    return value ? integer(*value, path + "." + key, min, max) : defaultValue;
  }

  std::string string(const Json &value, const std::string &path) {
    if (value.is_string())
      return *value.get_ptr<const Json::string_t *>();
    fail(path, "expected a string");
    return {};
  }

  std::string stringField(const Json &object, const char *key, const std::string &path) {
    const Json *value = find(object, key);
    return value ? string(*value, path + "." + key) : std::string();
  }

  // Calls visit(element, path of it) for each element of an array.
  template <typename Visit>
  void array(const Json &value, const std::string &path, Visit visit) {
    if (!value.is_array())
      return fail(path, "expected an array");
    size_t i = 0;
    for (const Json &element : value) {
      if (!ok())
        return;
      visit(element, path + "[" + std::to_string(i++) + "]");
    }
  }

  template <typename Visit>
  void arrayField(const Json &object, const char *key, const std::string &path, bool required,
                  Visit visit) {
    if (const Json *value = find(object, key))
      array(*value, path.empty() ? key : path + "." + key, visit);
    else if (required)
      fail(path.empty() ? key : path + "." + key, "missing");
  }

private:
  std::string error_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_JSON_READER_H
