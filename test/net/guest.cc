#include "test/net/guest.h"

#include "runtime/net/bond/mailbox.h"
#include "runtime/net/socket.h"

#include <gtest/gtest.h>

namespace coll::net::test {

using namespace bond;

namespace {

constexpr int64_t kPatientUs = 30'000'000;

// Repeats until `step` returns true; `theirs` is set to the result of `other` when there is one.
template <typename Step, typename Other>
void awaitStep(std::unique_ptr<Connection> &theirs, Other other, Step step) {
  for (int64_t end = nowUs() + kPatientUs; nowUs() < end;) {
    if (!theirs)
      theirs = other().take();
    if (*step())
      return;
  }
  ADD_FAILURE() << "not let in";
}

} // namespace

Links enter(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs) {
  std::unique_ptr<Listener> door = ours.listen(0).take();
  Listener &listener = *door;
  auto await = [&](auto step) { awaitStep(theirs, [&] { return listener.accept(); }, step); };
  std::vector<Mailbox> mails;
  mails.emplace_back(raw.connect(0, *unmark(listener.handle())).take()->poll().take());
  std::vector<uint8_t> in;
  await([&] { return mails[0].put(encode(LinkHello())); });
  await([&] { return mails[0].get(in); });
  std::optional<Offer> offer = decodeOffer(in.data(), in.size());
  EXPECT_TRUE(offer && offer->handles.size() == kGuestRails - 1);
  for (const Handle &handle : offer->handles) {
    mails.emplace_back(raw.connect(0, handle).take()->poll().take());
    const LinkHello hello{offer->id, static_cast<uint8_t>(mails.size() - 1)};
    await([&] { return mails.back().put(encode(hello)); });
  }
  Start start;
  start.rails = (1 << kGuestRails) - 1;
  start.count = kGuestRails;
  await([&] { return mails[0].put(encode(start)); });
  await([&] { return Result<bool>(theirs != nullptr); });
  Links links;
  for (Mailbox &mail : mails)
    links.push_back(mail.take());
  return links;
}

Links lure(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs) {
  std::vector<std::unique_ptr<Listener>> doors;
  for (int i = 0; i < kGuestRails; ++i)
    doors.push_back(raw.listen(0).take());
  std::unique_ptr<Connector> connector = ours.connect(0, mark(doors[0]->handle())).take();
  auto await = [&](auto step) { awaitStep(theirs, [&] { return connector->poll(); }, step); };
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
    for (int i = 1; i < kGuestRails; ++i)
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

} // namespace coll::net::test
