#include "runtime/step/tokens/calls.h"

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"

#include <cstring>
#include <memory>
#include <string>

namespace coll::rt {

namespace {

template <typename T>
size_t at(T index) {
  return static_cast<size_t>(index);
}

class Combiner {
public:
  Combiner(const TokenCombine &combine, const TokenPlace &place) : c_(combine), calls_(place) {}

  Status run();

private:
  Status greet(const RouteReader &route);
  Status move(const RouteReader &route);
  void addUp(const RouteReader &route);

  int64_t rowBytes() const { return c_.hidden * dtypeSize(static_cast<CollDtype>(c_.dtype)); }

  const TokenCombine &c_;
  TokenCalls calls_;
  std::unique_ptr<char[]> back_;    // rows of other ranks
  std::vector<const char *> first_; // by position: the first row from there
};

Status Combiner::greet(const RouteReader &route) {
  Result<Greetings> all = calls_.greet(greetingOf(c_, route.serial()), route.rowsFrom());
  if (!all)
    return all.status();
  for (int64_t p = 0; p < calls_.n(); ++p)
    if (all->of(p).serial != all->of(0).serial)
      return {kCollMismatch, calls_.rankAt(p) +
                                 " combines along the route of another dispatch than " +
                                 calls_.rankAt(0)};
  for (int64_t p = 0; p < calls_.n(); ++p)
    if (const int64_t sent = route.rowsTo()[at(p)]; all->rows(p, calls_.me()) != sent)
      return Status::internal("tokens were lost: " + calls_.rankAt(p) + " returns " +
                              std::to_string(all->rows(p, calls_.me())) + " of " +
                              std::to_string(sent));
  return {};
}

Status Combiner::move(const RouteReader &route) {
  const int64_t n = calls_.n(), me = calls_.me(), bytes = rowBytes();
  std::vector<const char *> source(at(n));
  int64_t given = 0, gotten = 0;
  for (int64_t p = 0; p < n; ++p) {
    source[at(p)] = static_cast<const char *>(c_.src) + given * bytes;
    given += route.rowsFrom()[at(p)];
    gotten += p == me ? 0 : route.rowsTo()[at(p)];
  }
  back_.reset(new char[at(gotten * bytes)]);
  std::vector<char *> back(at(n));
  char *next = back_.get();
  for (int64_t p = 0; p < n; ++p) {
    back[at(p)] = next;
    first_.push_back(p == me ? source[at(p)] : next);
    next += p == me ? 0 : route.rowsTo()[at(p)] * bytes;
  }
  std::vector<TokenTransfer> in, out;
  for (int64_t step = 1; step < n; ++step) {
    const int64_t from = calls_.sourceIn(step), to = calls_.targetIn(step);
    in.push_back({from, kRowsTag, nullptr, back[at(from)], route.rowsTo()[at(from)] * bytes});
    out.push_back({to, kRowsTag, source[at(to)], nullptr, route.rowsFrom()[at(to)] * bytes});
  }
  return calls_.move(in, out);
}

void Combiner::addUp(const RouteReader &route) {
  const int64_t bytes = rowBytes();
  if (bytes == 0)
    return;
  char *out = static_cast<char *>(c_.dst);
  for (int64_t token = 0; token < c_.shape.tokens; ++token, out += bytes) {
    const void *rows[kMaxTopk];
    int numRows = 0;
    const int32_t *target = route.targetsOf(token);
    for (; numRows < c_.shape.topk && target[numRows] >= 0; ++numRows) {
      const char *&row = first_[at(target[numRows])];
      rows[numRows] = row;
      row += bytes;
    }
    if (numRows > 0)
      reduceBuffers(static_cast<CollDtype>(c_.dtype), kCollSum, rows, numRows, out, c_.hidden);
    else
      std::memset(out, 0, at(bytes));
  }
}

Status Combiner::run() {
  for (const void *data : {c_.src, static_cast<const void *>(c_.dst)})
    COLL_RETURN_IF_ERROR(calls_.checkMemory(data));
  Result<RouteReader> route = RouteReader::open(
      c_.shape, c_.route, static_cast<int32_t>(calls_.n()), static_cast<int32_t>(calls_.me()));
  if (!route)
    return route.status();
  COLL_RETURN_IF_ERROR(greet(*route));
  COLL_RETURN_IF_ERROR(move(*route));
  addUp(*route);
  return {};
}

} // namespace

Status checkCombine(const TokenCombine &c) {
  COLL_RETURN_IF_ERROR(checkRouteShape(c.shape));
  if (!isValidDtype(c.dtype) || !isFloat(static_cast<CollDtype>(c.dtype)))
    return Status::invalid(std::string("rows of ") + dtypeName(c.dtype) + " cannot be added up");
  if (c.hidden < 0 || c.hidden > kMaxRowElems)
    return Status::invalid("rows of " + std::to_string(c.hidden) + " elements; there may be 0 to " +
                           std::to_string(kMaxRowElems));
  if (c.hidden > 0 && ((c.shape.capacity > 0 && !c.src) || (c.shape.tokens > 0 && !c.dst)))
    return Status::invalid("the source or the destination is null");
  if (!c.route)
    return Status::invalid("the route is null");
  return {};
}

Status runCombine(const TokenCombine &combine, const TokenPlace &place) {
  return Combiner(combine, place).run();
}

} // namespace coll::rt
