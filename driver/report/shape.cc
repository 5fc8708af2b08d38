//===- shape.cc - the rank programs, side by side --------------------------------===//

#include "driver/report/shape.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace coll::run {
namespace {

constexpr size_t kMaxPeriod = 12;
constexpr int kMaxRounds = 1000;

bool isTransfer(const OperationRow &row) {
  return row.info.kind == "send" || row.info.kind == "recv";
}

class ShapeBuilder {
public:
  ShapeBuilder(const ReportContents &contents, const Analysis &analysis)
      : contents_(contents), analysis_(analysis) {}

  Shape build() {
    shape_.isMeasured = !contents_.classes.empty();
    for (size_t c = 0; c < contents_.classes.size(); ++c)
      shape_.isMeasured &= recordOf(static_cast<int>(c)) != nullptr;
    for (size_t c = 0; c < contents_.classes.size(); ++c)
      addLane(static_cast<int>(c));
    link();
    assignColumns();
    fillGrid();
    fold();
    return std::move(shape_);
  }

private:
  /// The calls of a rank of the class in its last step; null if no rank's calls are complete.
  const RankSummary *recordOf(int classIndex) const {
    for (const RankSummary &rank : analysis_.ranks)
      if (rank.classIndex == classIndex && rank.record && rank.record->numSteps > 0 &&
          !rank.record->hasFailed && rank.record->lastNs >= 0)
        return &rank;
    return nullptr;
  }

  std::vector<ShapeEvent> eventsOf(const RankRecord &record, int classIndex) const {
    const std::vector<size_t> &rowOf = analysis_.rowOf[static_cast<size_t>(classIndex)];
    std::vector<ShapeEvent> events;
    for (const CallRecord &call : record.calls)
      if (call.op >= 0 && static_cast<size_t>(call.op) < rowOf.size())
        events.push_back({rowOf[static_cast<size_t>(call.op)], call.peer, call.tag});
    return events;
  }

  void addLane(int classIndex) {
    ShapeLane &lane = shape_.lanes.emplace_back();
    lane.classIndex = classIndex;
    if (shape_.isMeasured) {
      lane.events = eventsOf(*recordOf(classIndex)->record, classIndex);
      return;
    }
    for (size_t row : analysis_.rowOf[static_cast<size_t>(classIndex)])
      if (!analysis_.rows[row].info.isInit)
        lane.events.push_back({row});
  }

  bool isSend(const ShapeEvent &event) const {
    return analysis_.rows[event.row].info.kind == "send";
  }

  /// Transfers of one rank: indices of its events by direction, peer and tag.
  using Transfers = std::map<std::tuple<bool, int, int64_t>, std::vector<size_t>>;

  const Transfers &transfersOf(const RankSummary &rank) {
    auto [it, isNew] = transfers_.try_emplace(rank.rank);
    if (!isNew || !rank.record || rank.classIndex < 0)
      return it->second;
    std::vector<ShapeEvent> events = eventsOf(*rank.record, rank.classIndex);
    size_t count = shape_.lanes[static_cast<size_t>(rank.classIndex)].events.size();
    for (size_t i = 0; i < std::min(events.size(), count); ++i)
      if (isTransfer(analysis_.rows[events[i].row]))
        it->second[{isSend(events[i]), events[i].peer, events[i].tag}].push_back(i);
    return it->second;
  }

  /// Finds the other side of each transfer: the k-th send that goes to a rank meets the k-th
  /// recv there that names this one.
  void link() {
    for (size_t l = 0; shape_.isMeasured && l < shape_.lanes.size(); ++l) {
      const RankSummary &self = *recordOf(static_cast<int>(l));
      for (const auto &[key, mine] : transfersOf(self)) {
        auto [sends, peer, tag] = key;
        if (peer < 0 || static_cast<size_t>(peer) >= analysis_.ranks.size())
          continue;
        const RankSummary &other = analysis_.ranks[static_cast<size_t>(peer)];
        const Transfers &transfers = transfersOf(other);
        auto theirs = transfers.find({!sends, self.rank, tag});
        for (size_t k = 0;
             theirs != transfers.end() && k < std::min(mine.size(), theirs->second.size()); ++k)
          addLink(sends, l, mine[k], static_cast<size_t>(other.classIndex), theirs->second[k]);
      }
    }
  }

  void addLink(bool sends, size_t lane, size_t event, size_t otherLane, size_t otherEvent) {
    ShapeLink link = sends ? ShapeLink{lane, event, otherLane, otherEvent}
                           : ShapeLink{otherLane, otherEvent, lane, event};
    if (seen_.insert({link.fromLane, link.fromEvent, link.toLane, link.toEvent}).second)
      shape_.links.push_back(link);
  }

  /// Events that share a column: the k-th collectives of the lanes on one group.
  std::vector<std::vector<ShapeEvent *>> findMeetings() {
    std::map<std::pair<rt::GroupLists, int>, std::vector<ShapeEvent *>> meetings;
    for (ShapeLane &lane : shape_.lanes) {
      std::map<rt::GroupLists, int> counts;
      for (ShapeEvent &event : lane.events)
        if (const OperationRow &row = analysis_.rows[event.row]; !isTransfer(row))
          meetings[{row.groups, counts[row.groups]++}].push_back(&event);
    }
    std::vector<std::vector<ShapeEvent *>> lists;
    for (auto &entry : meetings)
      lists.push_back(std::move(entry.second));
    for (const ShapeLink &link : shape_.links)
      if (link.fromLane != link.toLane)
        lists.push_back({&shape_.lanes[link.fromLane].events[link.fromEvent],
                         &shape_.lanes[link.toLane].events[link.toEvent]});
    return lists;
  }

  /// A lane shows the first rank of its class, so lanes may form a cycle of transfers where ranks
  /// form none; transfers then do not share columns.
  void assignColumns() {
    std::vector<std::vector<ShapeEvent *>> meetings = findMeetings();
    if (settleColumns(meetings))
      return;
    std::vector<ShapeLink> links = std::exchange(shape_.links, {});
    for (ShapeLane &lane : shape_.lanes)
      for (ShapeEvent &event : lane.events)
        event.column = 0;
    (void)settleColumns(findMeetings());
    shape_.links = std::move(links);
  }

  /// False if events of a meeting push each other for ever.
  bool settleColumns(const std::vector<std::vector<ShapeEvent *>> &meetings) {
    bool hasChanged = true;
    for (int round = 0; hasChanged && round < kMaxRounds; ++round) {
      hasChanged = false;
      for (ShapeLane &lane : shape_.lanes)
        for (size_t i = 1; i < lane.events.size(); ++i)
          hasChanged |= raise(lane.events[i], lane.events[i - 1].column + 1);
      for (const std::vector<ShapeEvent *> &meeting : meetings) {
        size_t latest = 0;
        for (const ShapeEvent *event : meeting)
          latest = std::max(latest, event->column);
        for (ShapeEvent *event : meeting)
          hasChanged |= raise(*event, latest);
      }
    }
    for (ShapeLane &lane : shape_.lanes)
      for (size_t i = 1; i < lane.events.size(); ++i)
        raise(lane.events[i], lane.events[i - 1].column + 1);
    return !hasChanged;
  }

  static bool raise(ShapeEvent &event, size_t column) {
    if (event.column >= column)
      return false;
    event.column = column;
    return true;
  }

  /// Columns without events vanish.
  void fillGrid() {
    std::map<size_t, size_t> columns;
    for (const ShapeLane &lane : shape_.lanes)
      for (const ShapeEvent &event : lane.events)
        columns[event.column] = 0;
    size_t next = 0;
    for (auto &entry : columns)
      entry.second = next++;
    shape_.grid.assign(next, std::vector<int64_t>(shape_.lanes.size(), -1));
    for (size_t l = 0; l < shape_.lanes.size(); ++l)
      for (size_t i = 0; i < shape_.lanes[l].events.size(); ++i) {
        ShapeEvent &event = shape_.lanes[l].events[i];
        event.column = columns[event.column];
        shape_.grid[event.column][l] = static_cast<int64_t>(i);
      }
  }

  /// The properties that must be equal for two columns to be folded into one.
  std::vector<size_t> signatures() const {
    using Signature =
        std::vector<std::tuple<std::string, std::string, std::string, rt::GroupLists>>;
    std::map<Signature, size_t> numbers;
    std::vector<size_t> signatures;
    for (const std::vector<int64_t> &column : shape_.grid) {
      Signature signature;
      for (size_t l = 0; l < column.size(); ++l) {
        if (column[l] < 0) {
          signature.emplace_back();
          continue;
        }
        const ShapeEvent &event = shape_.lanes[l].events[static_cast<size_t>(column[l])];
        const OperationRow &row = analysis_.rows[event.row];
        signature.emplace_back(row.info.kind, row.info.reduction, std::to_string(event.peer),
                               row.groups);
      }
      signatures.push_back(numbers.try_emplace(signature, numbers.size()).first->second);
    }
    return signatures;
  }

  /// From each place on the period that covers most, shorter ones first.
  void fold() {
    std::vector<size_t> signature = signatures();
    for (size_t i = 0; i < signature.size();) {
      ShapeRun best{i, 1, 1};
      for (size_t period = 1; period <= kMaxPeriod; ++period) {
        size_t end = i + period;
        while (end < signature.size() && signature[end] == signature[end - period])
          ++end;
        size_t repeats = std::min(end, signature.size()) >= i + period ? (end - i) / period : 0;
        bool isWorth = period == 1 ? repeats >= 2 : repeats >= 3;
        if (isWorth && repeats * period > best.repeats * best.period)
          best = {i, period, repeats};
      }
      shape_.runs.push_back(best);
      i += best.period * best.repeats;
    }
  }

  const ReportContents &contents_;
  const Analysis &analysis_;
  std::map<int, Transfers> transfers_;                        // by rank
  std::set<std::tuple<size_t, size_t, size_t, size_t>> seen_; // links
  Shape shape_;
};

} // namespace

Shape makeShape(const ReportContents &contents, const Analysis &analysis) {
  return ShapeBuilder(contents, analysis).build();
}

} // namespace coll::run
