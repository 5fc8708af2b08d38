#include "runtime/exchange/tensor/served_access.h"

#include "runtime/net/socket.h"

#include <optional>
#include <string>
#include <thread>

namespace coll::rt::exchange {

namespace {

constexpr int64_t kSpinUs = 200;

class Client {
public:
  Client(OwnerLink &link, const ServedAccess &access) : link_(link), access_(access) {}

  // Waits until it is posted.
  Result<net::Request *> post(bool isSend, uint64_t tag, void *data, size_t bytes) {
    const net::Segment segment = {data, bytes, nullptr};
    for (const int64_t deadlineUs = net::nowUs() + access_.timeoutUs;;) {
      Result<net::Request *> posted = isSend ? link_.connection->isend(&segment, 1, tag)
                                             : link_.connection->irecv(&segment, 1, tag);
      if (!posted || *posted)
        return posted;
      if (net::nowUs() > deadlineUs)
        return Status(kCollTimeout, "the connection accepts no request");
      std::this_thread::yield();
    }
  }
  Status await(net::Request *request, uint64_t bytes) {
    Result<uint64_t> moved = net::wait(*link_.connection, request, access_.timeoutUs);
    if (!moved)
      return moved.status();
    return *moved == bytes ? Status() : Status(kCollMismatch, "no answer of a tensor's owner");
  }
  // Asks the owner, and waits for its permission.
  Status ask() {
    Result<net::Request *> answer =
        post(false, BoxQuestion::kAnswerTag, &link_.refusal, sizeof(link_.refusal));
    if (!answer)
      return answer.status();
    Result<net::Request *> question =
        post(true, BoxQuestion::kTag, &link_.question, sizeof(link_.question));
    if (!question)
      return question.status();
    COLL_RETURN_IF_ERROR(await(*question, sizeof(link_.question)));
    COLL_RETURN_IF_ERROR(await(*answer, sizeof(link_.refusal)));
    return link_.refusal.status();
  }
  // Moves all chunks; the owner may end it earlier.
  Status pump(ChunkRun &run) {
    Result<net::Request *> ended =
        post(false, BoxQuestion::kAnswerTag, &link_.outcome, sizeof(link_.outcome));
    if (!ended)
      return ended.status();
    bool isAnswered = false;
    for (int64_t lastUs = net::nowUs(); !run.isDone() || !isAnswered;) {
      Result<bool> moved = run.advance();
      bool isMoving = moved && *moved;
      if (!isAnswered) {
        // A message that the owner sent before it closed the connection is a better reason than the
        // connection's end.
        Result<net::Completion> came = link_.connection->test(*ended);
        if (!came)
          return came.status();
        isAnswered = came->done;
        isMoving |= isAnswered;
        if (isAnswered)
          COLL_RETURN_IF_ERROR(failureOf(link_.outcome.status()));
      }
      if (!moved)
        return moved.status();
      const int64_t nowUs = net::nowUs();
      if (isMoving)
        lastUs = nowUs;
      if (nowUs - lastUs > access_.timeoutUs)
        return {kCollTimeout, "the owner makes no progress"};
      if (nowUs - lastUs <= kSpinUs) {
        std::this_thread::yield();
        continue;
      }
      link_.connection->rest();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return {};
  }

private:
  // Chunks are in flight, so the link cannot be kept, whatever the owner answers.
  static Status failureOf(const Status &status) {
    return status.code() == kCollInvalidCall ? Status(kCollPeer, status.message()) : status;
  }

  OwnerLink &link_;
  const ServedAccess &access_;
};

} // namespace

Status moveServed(OwnerLink &link, ChunkLane &lane, const ServedAccess &access,
                  const StridedBox &box, const BoxMemory &local) {
  const StridedBox remote = access.reads ? box : reversed(box);
  BoxQuestion &question = link.question;
  question = {};
  question.isWrite = access.reads ? 0 : 1;
  question.id = access.id;
  question.key = access.key;
  question.handleSum = access.handleSum;
  question.offset = remote.srcOffset;
  question.rowBytes = remote.rowBytes;
  question.numLoops = remote.numLoops;
  for (size_t d = 0; d < static_cast<size_t>(remote.numLoops); ++d) {
    question.count[d] = remote.count[d];
    question.stride[d] = remote.srcStride[d];
  }
  Client client(link, access);
  COLL_RETURN_IF_ERROR(client.ask());
  std::optional<dl::CudaScope> scope;
  if (local.gpu)
    scope.emplace(local.gpu->cuda(), local.gpu->context());
  ChunkRun run =
      lane.start(boxFlow(reversed(remote), local, !access.reads, BoxQuestion::kDataTag, lane),
                 *link.connection);
  return client.pump(run);
}

} // namespace coll::rt::exchange
