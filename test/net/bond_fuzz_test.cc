// A peer that is let in, and then sends anything.

#include "runtime/net/bond/mailbox.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/socket.h"
#include "test/net/flaky_transport.h"
#include "test/net/options.h"

#include <gtest/gtest.h>
#include <random>

namespace coll::net::test {
namespace {

using namespace bond;

constexpr int64_t kPatientUs = 30'000'000;

constexpr int kRails = 3;
using Links = std::vector<std::unique_ptr<Connection>>;

// Until `step` is true; `theirs` is what `other` gives meanwhile.
template <typename Step, typename Other>
void await(std::unique_ptr<Connection> &theirs, Other other, Step step) {
  for (int64_t end = nowUs() + kPatientUs; nowUs() < end;) {
    if (!theirs)
      theirs = other().take();
    if (*step())
      return;
  }
  ADD_FAILURE() << "not let in";
}

// All links of a connection to a listener with kRails of them.
Links enter(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs) {
  std::unique_ptr<Listener> door = ours.listen(0).take();
  Listener &listener = *door;
  auto await = [&](auto step) { test::await(theirs, [&] { return listener.accept(); }, step); };
  std::vector<Mailbox> mails;
  mails.emplace_back(raw.connect(0, *unmark(listener.handle())).take()->poll().take());
  std::vector<uint8_t> in;
  await([&] { return mails[0].put(encode(Knock())); });
  await([&] { return mails[0].get(in); });
  std::optional<Offer> offer = decodeOffer(in.data(), in.size());
  EXPECT_TRUE(offer && offer->handles.size() == kRails - 1);
  for (const Handle &handle : offer->handles) {
    mails.emplace_back(raw.connect(0, handle).take()->poll().take());
    const Knock knock{offer->id, static_cast<uint8_t>(mails.size() - 1)};
    await([&] { return mails.back().put(encode(knock)); });
  }
  Start start;
  start.rails = (1 << kRails) - 1;
  start.count = kRails;
  await([&] { return mails[0].put(encode(start)); });
  await([&] { return Result<bool>(theirs != nullptr); });
  Links links;
  for (Mailbox &mail : mails)
    links.push_back(mail.take());
  return links;
}

// The same where ours is the one that connects.
Links lure(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs) {
  std::vector<std::unique_ptr<Listener>> doors;
  for (int i = 0; i < kRails; ++i)
    doors.push_back(raw.listen(0).take());
  std::unique_ptr<Connector> connector = ours.connect(0, mark(doors[0]->handle())).take();
  auto await = [&](auto step) { test::await(theirs, [&] { return connector->poll(); }, step); };
  std::vector<Mailbox> mails;
  std::vector<uint8_t> in;
  for (std::unique_ptr<Listener> &door : doors) {
    std::unique_ptr<Connection> link;
    await([&] {
      link = door->accept().take();
      return Result<bool>(link != nullptr);
    });
    mails.emplace_back(std::move(link));
    await([&] { return mails.back().get(in); });
    if (mails.size() > 1)
      continue;
    Offer offer;
    offer.id = 5;
    for (int i = 1; i < kRails; ++i)
      offer.handles.push_back(doors[static_cast<size_t>(i)]->handle());
    await([&] { return mails[0].put(encode(offer)); });
  }
  await([&] { return mails[0].get(in); });
  await([&] { return Result<bool>(theirs != nullptr); });
  Links links;
  for (Mailbox &mail : mails)
    links.push_back(mail.take());
  return links;
}

TEST(BondFuzzTest, FramesRoundTrip) {
  Frame frame;
  frame.type = FrameType::Large;
  frame.sequence = 3;
  frame.ack = 5;
  frame.takenMessages = 6;
  frame.takenBytes = 7;
  frame.tag = 8;
  frame.id = 9;
  frame.bytes = 10;
  frame.count = 2;
  frame.rails = {1, 0};
  uint8_t bytes[Frame::kBytes];
  encode(frame, bytes);
  std::optional<Frame> back = decodeFrame(bytes, sizeof(bytes));
  ASSERT_TRUE(back);
  uint8_t again[Frame::kBytes];
  encode(*back, again);
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + sizeof(bytes)),
            std::vector<uint8_t>(again, again + sizeof(again)));
  EXPECT_FALSE(decodeFrame(bytes, sizeof(bytes) - 1));
}

TEST(BondFuzzTest, AHostilePeerEndsItsConnectionAlone) {
  std::unique_ptr<Transport> raw = createLoopbackTransport().take();
  BondOptions options;
  options.rails = kRails;
  options.retryUs = 100;
  std::unique_ptr<Transport> ours =
      createBondTransport(
          std::make_unique<FlakyTransport>(createLoopbackTransport().take(), kRails), options)
          .take();
  std::mt19937_64 random(4);
  int64_t frames = fuzzFrames / 4;
  bool isLured = false;
  std::vector<uint8_t> guarded(1 << 20, 0xee), small(100);
  while (frames > 0) {
    std::unique_ptr<Connection> theirs;
    isLured = !isLured;
    Links evil = isLured ? lure(*raw, *ours, theirs) : enter(*raw, *ours, theirs);
    ASSERT_TRUE(theirs);
    // Half of the buffer is for messages, the rest must stay.
    Segment half{guarded.data(), guarded.size() / 2, nullptr}, place{small.data(), small.size()};
    std::vector<Request *> posted;
    for (uint64_t tag = 0; tag < 3; ++tag)
      for (const Segment &one : {half, place}) {
        Result<Request *> request =
            random() % 2 ? theirs->irecv(&one, 1, tag) : theirs->isend(&one, 1, tag);
        if (request.ok() && *request)
          posted.push_back(*request);
      }
    Status ended;
    for (uint64_t sequence = 1; ended.ok() && frames-- > 0;) {
      Frame frame;
      frame.type = static_cast<FrameType>(1 + random() % uint64_t(FrameType::Ack));
      frame.code = static_cast<FrameCode>(random() % 20 ? 0 : random() % 3);
      frame.part = static_cast<uint8_t>(random() % 9);
      frame.count = static_cast<uint8_t>(random() % 3);
      frame.sequence = frame.type == FrameType::Ack ? 0 : random() % 10 ? sequence++ : random();
      frame.ack = random() % 10 ? random() % 8 : random();
      frame.takenMessages = random() % 5 ? 0 : random() % 4;
      frame.takenBytes = random() % 10 ? 0 : random();
      frame.tag = random() % 4;
      frame.id = random() % 10 ? 1 + random() % 3 : random();
      frame.bytes = random() % 3 ? random() % 200 : random() % 2'000'000;
      for (size_t i = 0; i < frame.count; ++i)
        frame.rails[i] = static_cast<uint8_t>(random() % (kRails + 1));
      uint64_t payload = frame.type == FrameType::Eager    ? std::min(frame.bytes, +kEagerBytes)
                         : frame.type == FrameType::Invite ? uint64_t(Handle::kBytes)
                         : random() % 20                   ? 0
                                                           : 9;
      std::vector<uint8_t> bytes(Frame::kBytes + payload);
      encode(frame, bytes.data());
      if (random() % 50 == 0)
        bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
      Segment all{bytes.data(), bytes.size(), nullptr};
      Connection &link = *evil[random() % 10 ? 0 : random() % kRails];
      Result<Request *> sent = link.isend(&all, 1, random() % 20 ? 0 : random() % 64);
      for (size_t i = 0; i < posted.size() && ended.ok(); ++i) {
        Result<Completion> done = theirs->test(posted[i]);
        if (!done.ok() || done->done) {
          posted.erase(posted.begin() + static_cast<ptrdiff_t>(i));
          break;
        }
      }
      if (posted.empty())
        break;
      if (sent.ok() && *sent) {
        Result<Completion> left = link.test(*sent);
        ended = !left.ok() ? left.status() : Status();
        if (left.ok() && !left->done)
          break; // the other end has stopped taking frames
      } else {
        break;
      }
    }
    for (std::unique_ptr<Connection> &link : evil)
      link->close();
  }
  for (size_t i = guarded.size() / 2; i < guarded.size(); ++i)
    ASSERT_EQ(guarded[i], 0xee);
}

} // namespace
} // namespace coll::net::test
