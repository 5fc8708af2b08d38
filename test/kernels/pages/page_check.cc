#include "test/kernels/pages/page_check.h"

#include "runtime/kernels/error_word.h"

#include <cstring>

namespace coll::kernels::test {
namespace {

// A value in a machine's memory.
template <class T>
class Cell {
public:
  Cell(Machine &machine, Where where, const T &value)
      : machine_(machine), where_(where),
        memory_(static_cast<T *>(machine.allocate(sizeof(T), where))) {
    set(value);
  }
  ~Cell() { machine_.release(memory_, where_); }
  Cell(const Cell &) = delete;
  Cell &operator=(const Cell &) = delete;

  T *get() const { return memory_; }
  void set(const T &value) { machine_.copyIn(memory_, &value, sizeof(T)); }
  T value() const {
    T out;
    machine_.copyOut(&out, memory_, sizeof(T));
    return out;
  }

private:
  Machine &machine_;
  Where where_;
  T *memory_;
};

const uint8_t *bytesOf(const std::vector<rt::PageDescriptor> &pages) {
  return reinterpret_cast<const uint8_t *>(pages.data());
}

// The two sides of a copy on a machine, and the expected result.
struct Sides {
  Sides(Machine &machine, Direction direction, Random &random, const PageCase &pageCase,
        const CopyShape &shape)
      : unpack(direction == Direction::Unpack),
        bounce(machine, pageCase.bounceBytes, shape.bounceMisalign, shape.bounceWhere, !unpack),
        buffer(machine, pageCase.bufferBytes, shape.bufferMisalign, Where::Device, unpack),
        hostBounce(randomBytes(random, pageCase.bounceBytes)),
        hostBuffer(randomBytes(random, pageCase.bufferBytes)) {
    bounce.fill(hostBounce);
    buffer.fill(hostBuffer);
    PageCopy copy;
    copy.pages = pageCase.pages.data();
    copy.count = pageCase.pages.size();
    copy.bounce = hostBounce.data();
    copy.bounceBytes = pageCase.bounceBytes;
    copy.buffer = hostBuffer.data();
    copy.bufferBytes = pageCase.bufferBytes;
    expectedError = unpack ? unpackReference(copy) : packReference(copy);
  }

  void expectCopied() const {
    // Compares everything at once first, because gtest would print megabytes.
    const std::vector<uint8_t> gotBounce = bounce.read(), gotBuffer = buffer.read();
    EXPECT_TRUE(gotBounce == hostBounce) << firstDifference(gotBounce, hostBounce);
    EXPECT_TRUE(gotBuffer == hostBuffer) << firstDifference(gotBuffer, hostBuffer);
    EXPECT_TRUE(bounce.guardsIntact());
    EXPECT_TRUE(buffer.guardsIntact());
  }

  static std::string firstDifference(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b) {
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i])
        return "first difference at byte " + std::to_string(i) + " of " + std::to_string(a.size());
    return "equal";
  }

  bool unpack;
  Memory bounce, buffer;
  std::vector<uint8_t> hostBounce, hostBuffer; // after the reference ran
  uint64_t expectedError = 0;
};

// A connection of either kind, with its metadata where the host writes it.
template <class Meta, class Handle>
struct Connection {
  explicit Connection(Machine &machine)
      : meta(machine, Where::PinnedHost, *std::make_unique<Meta>()),
        handle(machine, Where::Device, Handle{meta.get(), nullptr, rt::kUnpackHeadStart}),
        error(machine, Where::Device, 0) {}

  // Writes a message into its slot like a transport does.
  void post(Machine &machine, uint64_t message, const std::vector<rt::PageDescriptor> &pages,
            uint64_t count) {
    const uint64_t slot = message % rt::kUnpackSlots;
    if (!pages.empty())
      machine.copyIn(meta.get()->pages[slot], bytesOf(pages),
                     pages.size() * sizeof(rt::PageDescriptor));
    machine.copyIn(&meta.get()->count[slot], &count, sizeof count);
  }

  void setBounce(void *bounce) {
    Handle now = handle.value();
    now.bounce = bounce;
    handle.set(now);
  }

  MessageCopy<Handle> message(const Sides &sides, int blocks) const {
    MessageCopy<Handle> out;
    out.handle = handle.get();
    out.version = kHandleVersion<Handle>;
    out.bounceBytes = sides.bounce.bytes();
    out.buffer = sides.buffer.data();
    out.bufferBytes = sides.buffer.bytes();
    out.errorWord = error.get();
    out.blocks = blocks;
    return out;
  }

  Cell<Meta> meta;
  Cell<Handle> handle;
  Cell<uint64_t> error;
};

using UnpackConnection = Connection<rt::UnpackMeta, rt::UnpackHandle>;
using PackConnection = Connection<rt::PackMeta, rt::PackHandle>;

rt::Status next(Machine &machine, const MessageCopy<rt::UnpackHandle> &message) {
  return machine.unpackNext(message);
}
rt::Status next(Machine &machine, const MessageCopy<rt::PackHandle> &message) {
  return machine.packNext(message);
}

void expectPublished(const UnpackConnection &, uint64_t) {}
void expectPublished(const PackConnection &connection, uint64_t messages) {
  EXPECT_EQ(connection.meta.value().packed, messages);
}

template <class AConnection>
void messages(Machine &machine, Direction direction, Random &random, int count) {
  AConnection connection(machine);
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE("message " + std::to_string(i));
    const uint32_t pages = below(random, 4) == 0 ? 0 : 1 + static_cast<uint32_t>(below(random, 60));
    const PageCase pageCase = randomPages(random, pages, 64 << 10, Lengths::Mixed, true, false);
    const CopyShape shape = randomShape(random);
    Sides sides(machine, direction, random, pageCase, shape);
    connection.setBounce(sides.bounce.data());
    connection.post(machine, static_cast<uint64_t>(i), pageCase.pages, pageCase.pages.size());
    const rt::Status status = next(machine, connection.message(sides, shape.blocks));
    ASSERT_TRUE(status.ok()) << status.toString();
    sides.expectCopied();
    EXPECT_EQ(connection.error.value(), 0u);
    EXPECT_EQ(connection.handle.value().head, static_cast<uint64_t>(i));
    expectPublished(connection, static_cast<uint64_t>(i) + 1);
  }
}

template <class AConnection>
void countTooLarge(Machine &machine, Direction direction) {
  Random random(1);
  for (const uint64_t count : {uint64_t{rt::kUnpackSlotPages} + 1, ~uint64_t{0}}) {
    for (const int blocks : {1, 3}) {
      AConnection connection(machine);
      const PageCase empty{{}, 4096, 4096};
      Sides sides(machine, direction, random, empty, {});
      connection.setBounce(sides.bounce.data());
      connection.post(machine, 0, {{0, 4096, 0}}, count);
      ASSERT_TRUE(next(machine, connection.message(sides, blocks)).ok());
      sides.expectCopied();
      EXPECT_EQ(connection.error.value(), errorWord(KernelError::PageCount, 0));
      EXPECT_EQ(connection.handle.value().head, 0u);
    }
  }
}

template <class AConnection>
void fullSlot(Machine &machine, Direction direction) {
  Random random(2);
  PageCase pageCase =
      randomPages(random, rt::kUnpackSlotPages, ~uint64_t{0}, Lengths::Tiny, false, false);
  ASSERT_EQ(pageCase.pages.size(), rt::kUnpackSlotPages);
  for (const int blocks : {1, 2}) {
    AConnection connection(machine);
    Sides sides(machine, direction, random, pageCase, {3, 5, Where::Device, blocks});
    connection.setBounce(sides.bounce.data());
    connection.post(machine, 0, pageCase.pages, pageCase.pages.size());
    ASSERT_TRUE(next(machine, connection.message(sides, blocks)).ok());
    sides.expectCopied();
    EXPECT_EQ(connection.error.value(), 0u);
  }
}

} // namespace

CopyShape randomShape(Random &random) {
  const int blocks[] = {1, 1, 2, 3, 5};
  return {below(random, 16), below(random, 16),
          below(random, 3) == 0 ? Where::PinnedHost : Where::Device, blocks[below(random, 5)]};
}

uint64_t checkPages(Machine &machine, Direction direction, Random &random, const PageCase &pageCase,
                    const CopyShape &shape) {
  Sides sides(machine, direction, random, pageCase, shape);
  Memory pages(machine, pageCase.pages.size() * sizeof(rt::PageDescriptor), 0, Where::Device,
               false);
  pages.fill({bytesOf(pageCase.pages), bytesOf(pageCase.pages) + pages.bytes()});
  const Cell<uint64_t> error(machine, Where::PinnedHost, 0);
  PageCopy copy;
  copy.pages = reinterpret_cast<const rt::PageDescriptor *>(pages.data());
  copy.count = pageCase.pages.size();
  copy.bounce = sides.bounce.data();
  copy.bounceBytes = pageCase.bounceBytes;
  copy.buffer = sides.buffer.data();
  copy.bufferBytes = pageCase.bufferBytes;
  copy.errorWord = error.get();
  copy.blocks = shape.blocks;
  const rt::Status status = sides.unpack ? machine.unpack(copy) : machine.pack(copy);
  EXPECT_TRUE(status.ok()) << status.toString();
  sides.expectCopied();
  EXPECT_EQ(static_cast<uint32_t>(error.value()), static_cast<uint32_t>(sides.expectedError));
  return error.value();
}

void checkMessages(Machine &machine, Direction direction, Random &random, int count) {
  if (direction == Direction::Unpack)
    messages<UnpackConnection>(machine, direction, random, count);
  else
    messages<PackConnection>(machine, direction, random, count);
}

void checkPeerGroup(Machine &machine, Random &random, int rounds) {
  constexpr uint32_t kPeers = UnpackGroupCopy::kPeers;
  std::unique_ptr<UnpackConnection> connections[kPeers];
  for (std::unique_ptr<UnpackConnection> &connection : connections)
    connection = std::make_unique<UnpackConnection>(machine);
  uint64_t heads[kPeers];
  std::fill(std::begin(heads), std::end(heads), rt::kUnpackHeadStart);
  const Cell<uint64_t> error(machine, Where::Device, 0);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    UnpackGroupCopy copy;
    copy.mask = static_cast<uint32_t>(below(random, 1u << kPeers));
    copy.version = kHandleVersion<rt::UnpackHandle>;
    copy.errorWord = error.get();
    copy.blocks = static_cast<int>(below(random, 4));
    std::vector<std::unique_ptr<Sides>> all;
    for (uint32_t peer = 0; peer < kPeers; ++peer) {
      const PageCase pageCase = randomPages(random, static_cast<uint32_t>(below(random, 40)),
                                            16 << 10, Lengths::Mixed, true, false);
      UnpackConnection &connection = *connections[peer];
      // Even without the bit the slot has the message.
      PageCase expected = pageCase;
      if (!(copy.mask >> peer & 1))
        expected.pages.clear();
      all.push_back(std::make_unique<Sides>(machine, Direction::Unpack, random, expected,
                                            randomShape(random)));
      connection.setBounce(all.back()->bounce.data());
      connection.post(machine, heads[peer] + 1, pageCase.pages, pageCase.pages.size());
      const MessageCopy<rt::UnpackHandle> message = connection.message(*all.back(), 0);
      copy.peers[peer] = {message.handle, message.bounceBytes, message.buffer, message.bufferBytes};
      heads[peer] += copy.mask >> peer & 1;
    }
    const rt::Status status = machine.unpackGroup(copy);
    ASSERT_TRUE(status.ok()) << status.toString();
    for (uint32_t peer = 0; peer < kPeers; ++peer) {
      all[peer]->expectCopied();
      EXPECT_EQ(connections[peer]->handle.value().head, heads[peer]) << "peer " << peer;
    }
    EXPECT_EQ(error.value(), 0u);
  }
}

void checkCountTooLarge(Machine &machine, Direction direction) {
  if (direction == Direction::Unpack)
    countTooLarge<UnpackConnection>(machine, direction);
  else
    countTooLarge<PackConnection>(machine, direction);
}

void checkFullSlot(Machine &machine, Direction direction) {
  if (direction == Direction::Unpack)
    fullSlot<UnpackConnection>(machine, direction);
  else
    fullSlot<PackConnection>(machine, direction);
}

} // namespace coll::kernels::test
