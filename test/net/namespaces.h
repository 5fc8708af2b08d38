// namespaces.h - two network namespaces that two cables join, for tests of what travels
// between hosts. Needs the right to make namespaces, and `ip`; nothing outlives the process.

#ifndef COLL_TEST_NET_NAMESPACES_H
#define COLL_TEST_NET_NAMESPACES_H

#include "runtime/net/socket.h"

#include <string>

namespace coll::net::test {

// Each side has two interfaces: "coll0" with 10.77.0.SIDE+1/24 and fd77::SIDE+1/64, and "coll1"
// with 10.78.0.SIDE+1/24.
class Namespaces {
public:
  // Returns the process's pair, made by the first call. kCollUnsupported, with the reason, if this
  // machine does not permit it.
  static Result<Namespaces *> get();

  // Moves the calling thread, and the threads that it starts, into a side (0 or 1) while the object
  // lives.
  class Inside {
  public:
    Inside(const Namespaces &namespaces, int side);
    ~Inside();
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

  private:
    Fd home_;
  };

  // Unplugs a cable of a side, or plugs it in again.
  Status setLink(int side, bool up, int cable = 0) const;
  // Returns the bytes that a side has sent over a cable so far.
  Status sentBytes(int side, int cable, uint64_t &bytes) const;

private:
  Status create();
  Status configure(int side, const std::string &commands) const;

  Fd sides_[2];
};

} // namespace coll::net::test

#endif // COLL_TEST_NET_NAMESPACES_H
