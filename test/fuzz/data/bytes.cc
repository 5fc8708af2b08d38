#include "test/fuzz/data/bytes.h"

#include <cctype>
#include <cstring>

namespace coll::fuzz {
namespace {

class Mutator {
public:
  Mutator(std::string bytes, const std::string &other, Random &random)
      : bytes_(std::move(bytes)), other_(other), random_(random) {}

  std::string mutate() {
    using Change = void (Mutator::*)();
    static const std::vector<Change> kChanges = {
        &Mutator::flipBit,      &Mutator::setByte,      &Mutator::setNumber, &Mutator::setNumber,
        &Mutator::changeDigits, &Mutator::changeDigits, &Mutator::erase,     &Mutator::repeat,
        &Mutator::take,         &Mutator::cutEnd};
    for (int64_t i = random_.between(1, random_.chance(0.2) ? 20 : 4); i > 0; --i)
      if (!bytes_.empty())
        (this->*random_.pick(kChanges))();
    return std::move(bytes_);
  }

private:
  // The first bytes decide how the rest is read.
  size_t anywhere() {
    auto size = int64_t(bytes_.size());
    return size_t(random_.below(random_.chance(0.5) ? std::min<int64_t>(size, 128) : size));
  }
  size_t lengthFrom(size_t at) {
    return std::min(bytes_.size() - at, size_t(random_.between(1, random_.chance(0.2) ? 200 : 8)));
  }

  void flipBit() { bytes_[anywhere()] ^= char(1 << random_.below(8)); }
  void setByte() { bytes_[anywhere()] = char(random_.next()); }
  void setNumber() {
    static const std::vector<uint64_t> kNumbers = {0,
                                                   1,
                                                   0x7f,
                                                   0x80,
                                                   0xff,
                                                   0x7fff,
                                                   0xffff,
                                                   0x7fffffff,
                                                   0x80000000,
                                                   0xffffffff,
                                                   0x7fffffffffffffff,
                                                   0x8000000000000000,
                                                   0xffffffffffffffff};
    uint64_t number = random_.pick(kNumbers);
    size_t at = anywhere(),
           size = std::min<size_t>(size_t(1) << random_.below(4), bytes_.size() - at);
    std::memcpy(&bytes_[at], &number, size);
  }
  void changeDigits() {
    static const std::vector<std::string> kNumbers = {"0",
                                                      "-1",
                                                      "1e999",
                                                      "NaN",
                                                      "2147483648",
                                                      "4294967296",
                                                      "9223372036854775807",
                                                      "9223372036854775808",
                                                      "99999999999999999999999",
                                                      "0x10",
                                                      "",
                                                      "1",
                                                      "65536"};
    size_t at = anywhere();
    while (at < bytes_.size() && !std::isdigit(static_cast<unsigned char>(bytes_[at])))
      ++at;
    size_t end = at;
    while (end < bytes_.size() && std::isdigit(static_cast<unsigned char>(bytes_[end])))
      ++end;
    bytes_.replace(at, end - at, random_.pick(kNumbers));
  }
  void erase() {
    size_t at = anywhere();
    bytes_.erase(at, lengthFrom(at));
  }
  void repeat() {
    size_t at = anywhere();
    std::string piece = bytes_.substr(at, lengthFrom(at));
    bytes_.insert(anywhere(), piece);
  }
  void take() {
    if (other_.empty())
      return;
    size_t from = size_t(random_.below(int64_t(other_.size())));
    std::string piece = other_.substr(from, size_t(random_.between(1, 64)));
    size_t at = anywhere();
    bytes_.replace(at, random_.chance(0.5) ? std::min(piece.size(), bytes_.size() - at) : 0, piece);
  }
  void cutEnd() {
    if (random_.chance(0.2))
      bytes_.resize(anywhere());
  }

  std::string bytes_;
  const std::string &other_;
  Random &random_;
};

} // namespace

std::string mutateBytes(std::string bytes, const std::string &other, Random &random) {
  return Mutator(std::move(bytes), other, random).mutate();
}

} // namespace coll::fuzz
