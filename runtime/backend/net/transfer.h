// transfer.h - sends and receives between two ranks.
//
//   sender                                receiver
//     offer: call, number, small data ->    compares it with its own call
//                                        <- answer
//     large data                      ->
//
// A send is complete when the receive has taken it (a rendezvous). Offers of one tag match receives
// in program order; the number distinguishes later messages.

#ifndef COLL_RUNTIME_BACKEND_NET_TRANSFER_H
#define COLL_RUNTIME_BACKEND_NET_TRANSFER_H

#include "runtime/backend/net/activity.h"
#include "runtime/backend/net/algorithms/schedule.h"

#include <memory>
#include <vector>

namespace coll::rt::network {

// Whether the data is sent with the offer.
bool isInline(const Call &call);

// The parameters that both sides of a transfer know before the first message.
struct TransferPlace {
  uint64_t group; // groupHash
  int mine, peer; // global ranks
  const Call *call;
};

// kCollMismatch if the two calls do not match.
Status compareTransfer(int sender, const CallSignature &send, const std::string &sendText,
                       int receiver, const CallSignature &recv, const std::string &recvText);

class Sending final : public Activity {
public:
  // `number` differs from that of any other send of this rank.
  Sending(Mesh &mesh, Mover &mover, const TransferPlace &place, uint64_t number);
  ~Sending() override;
  Result<bool> advance(bool &moved) override;
  std::vector<int> waitingFor() const override;
  uint64_t key() const override { return tag_; }

private:
  enum class Stage { Begin, Offered, Granted, Sent };
  Status begin(bool &moved);

  Mesh &mesh_;
  Link &link_;
  Mover &mover_;
  int peer_;
  Call call_;
  uint64_t offerTag_, tag_;
  Stage stage_ = Stage::Begin;
  bool isInline_ = false;
  std::vector<uint8_t> offer_;
  uint8_t answer_ = 0;
  net::Request *offered_ = nullptr, *answered_ = nullptr;
  MessageTrace offerTrace_;
  std::unique_ptr<Schedule> data_; // large data
};

class Receiving final : public Activity {
public:
  Receiving(Mesh &mesh, Mover &mover, const TransferPlace &place);
  ~Receiving() override;
  Result<bool> advance(bool &moved) override;
  std::vector<int> waitingFor() const override;
  uint64_t key() const override { return tag_; }

private:
  enum class Stage { Begin, Posted, Answer, Data };
  Status begin(bool &moved);
  Status take(uint64_t bytes);
  Result<bool> answer(bool &moved);

  Mesh &mesh_;
  Link &link_;
  Mover &mover_;
  int mine_, peer_;
  Call call_;
  uint64_t offerTag_, tag_ = 0;
  Stage stage_ = Stage::Begin;
  bool wantsData_ = false;
  std::vector<uint8_t> offer_;
  uint8_t answer_ = 1;
  net::Request *offered_ = nullptr, *answered_ = nullptr;
  MessageTrace offerTrace_;
  std::unique_ptr<Schedule> data_; // large data
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_TRANSFER_H
