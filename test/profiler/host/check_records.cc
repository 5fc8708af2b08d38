#include "test/profiler/host/check_records.h"

#include "runtime/profiler/abi/tables.h"

#include <map>

namespace coll::profiler::test {

using namespace abi;

namespace {

class Checker {
public:
  explicit Checker(const Rules &rules) : rules_(rules) {}

  std::vector<std::string> check(const std::vector<Record> &records) {
    for (const Record &record : records) {
      where_ = "record " + std::to_string(&record - records.data());
      look(record);
    }
    where_ = "at the end";
    for (const auto &[handle, event] : events_)
      if (!event.isOver)
        fail("event " + std::to_string(handle) + " of type " + std::to_string(event.type) +
             " has not stopped");
    for (const auto &[context, isLive] : contexts_)
      if (isLive && rules_.isComplete)
        fail("context " + std::to_string(context) + " is not finalized");
    return problems_;
  }

private:
  struct Event {
    uint64_t type, context, parent;
    int children = 0; // under way
    bool isOver = false;
  };

  void fail(const std::string &what) {
    if (problems_.size() < 10)
      problems_.push_back(where_ + ": " + what);
  }

  void look(const Record &record) {
    switch (record.kind) {
    case Record::Kind::Init:
      contexts_[record.context] = true;
      break;
    case Record::Kind::Finalize:
      if (!contexts_[record.context])
        fail("finalized twice, or never made");
      contexts_[record.context] = false;
      break;
    case Record::Kind::Start:
      start(record);
      break;
    case Record::Kind::Stop:
      stop(record);
      break;
    case Record::Kind::State:
      state(record);
      break;
    }
  }

  void start(const Record &record) {
    if (!contexts_[record.context])
      fail("an event of a context that is not in use");
    if ((record.type & rules_.mask) != record.type)
      fail("an event of type " + std::to_string(record.type) + ", which is not wanted");
    checkParent(record.parent, record, parentsOf(record.type));
    if (rules_.version >= 5 && (record.type == kColl || record.type == kP2p))
      checkParent(record.parentGroup, record, kGroup);
    if (record.handle != 0)
      events_[record.handle] = {record.type, record.context, record.parent};
    if (auto parent = events_.find(record.parent); parent != events_.end())
      ++parent->second.children;
  }

  uint64_t parentsOf(uint64_t type) const {
    switch (type) {
    case kColl:
      return rules_.version < 5 ? kGroup : kCollApi;
    case kP2p:
      return rules_.version < 5 ? kGroup : kP2pApi;
    case kCollApi:
    case kP2pApi:
    case kKernelLaunch:
      return kGroupApi;
    case kCeColl:
      return kCollApi;
    case kCeSync:
    case kCeBatch:
      return kCeColl;
    case kProxyOp:
    case kKernelCh:
      return kColl | kP2p;
    case kKernelPhase:
      return kKernelCh;
    case kProxyStep:
      return kProxyOp;
    case kNetPlugin:
      return kProxyStep;
    default:
      return 0;
    }
  }

  void checkParent(uint64_t parent, const Record &record, uint64_t types) {
    if (parent == 0) {
      if (types != 0 && rules_.isComplete)
        fail("an event of type " + std::to_string(record.type) + " without a parent");
      return;
    }
    auto found = events_.find(parent);
    if (found == events_.end())
      return fail("the parent is no event of this plugin");
    if ((found->second.type & types) == 0)
      fail("an event of type " + std::to_string(record.type) + " below one of type " +
           std::to_string(found->second.type));
    if (found->second.context != record.context)
      fail("the parent is of another communicator");
    if (found->second.isOver && rules_.isComplete)
      fail("the parent has stopped already");
  }

  void stop(const Record &record) {
    auto found = events_.find(record.handle);
    if (found == events_.end() || found->second.isOver)
      return fail("a stop of what is not in flight");
    Event &event = found->second;
    event.isOver = true;
    if (!contexts_[event.context])
      fail("a stop after finalize");
    // API events end when the call returns; events that they have started may continue.
    const bool isApi = event.type & (kGroupApi | kCollApi | kP2pApi);
    if (event.children > 0 && rules_.isComplete && !isApi)
      fail("an event of type " + std::to_string(event.type) + " stops before its children");
    if (auto parent = events_.find(event.parent); parent != events_.end())
      --parent->second.children;
  }

  void state(const Record &record) {
    auto found = events_.find(record.handle);
    if (found == events_.end() || found->second.isOver)
      return fail("a state of what is not in flight");
    const bool isStep =
        (record.state >= kProxyStepSendGpuWait && record.state <= kProxyStepRecvGpuWait) ||
        record.state == kProxyStepSendPeerWait;
    const bool isGroup = record.state == kGroupStartApiStop || record.state == kGroupEndApiStart;
    if (isStep && found->second.type != kProxyStep)
      fail("the state of a proxy step, of an event of type " + std::to_string(found->second.type));
    if (isGroup && (found->second.type != kGroupApi || rules_.version < 5))
      fail("a state of GroupApi out of place");
  }

  Rules rules_;
  std::string where_;
  std::map<uint64_t, Event> events_;
  std::map<uint64_t, bool> contexts_; // whether it is in use
  std::vector<std::string> problems_;
};

} // namespace

std::vector<std::string> problemsOf(const std::vector<Record> &records, const Rules &rules) {
  return Checker(rules).check(records);
}

int countStarts(const std::vector<Record> &records, uint64_t type) {
  int count = 0;
  for (const Record &record : records)
    count += record.kind == Record::Kind::Start && record.type == type;
  return count;
}

} // namespace coll::profiler::test
