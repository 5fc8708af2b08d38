#include "runtime/step/tokens/calls.h"

#include <algorithm>

namespace coll::rt {

namespace {

template <typename T>
size_t at(T index) {
  return static_cast<size_t>(index);
}

class Dispatcher {
public:
  Dispatcher(const TokenDispatch &dispatch, const TokenPlace &place)
      : d_(dispatch), calls_(place), route_(dispatch.shape, dispatch.route) {}

  Status run(int32_t serial);

private:
  Status greet(int32_t serial);
  void packAll();
  Status moveAll();
  Status unpackAll();

  int64_t rowsFrom(int64_t p) const { return firstRow_[at(p + 1)] - firstRow_[at(p)]; }
  char *rowsAt(int64_t row) const { return static_cast<char *>(d_.rows) + row * d_.rowBytes(); }

  const TokenDispatch &d_;
  TokenCalls calls_;
  RouteWriter route_;
  TokenTargets targets_;
  int32_t serial_ = 0;          // identifies the dispatch on all members: the first member's number
  std::vector<int64_t> tokens_; // of each source
  std::vector<int64_t> firstRow_; // from each source; the last entry is the number of rows
  // By position. This rank's own notes are only in notesOut_, and its rows are copied directly to
  // their place.
  std::vector<std::vector<int32_t>> notesIn_, notesOut_;
  std::vector<std::vector<char>> rowsOut_;
};

// Invalid arguments are reported to all members, so that all end with the reason.
Status Dispatcher::greet(int32_t serial) {
  Greeting mine = greetingOf(d_, serial);
  mine.bad = findBadExpert(d_, calls_.n());
  std::vector<int64_t> rows(at(calls_.n()), 0);
  if (mine.bad.token < 0) {
    targets_ = findTargets(d_, calls_.n(), route_);
    for (size_t p = 0; p < rows.size(); ++p)
      rows[p] = targets_.count(p);
  }
  Result<Greetings> all = calls_.greet(mine, rows);
  if (!all)
    return all.status();
  COLL_RETURN_IF_ERROR(all->checkTokens());
  serial_ = static_cast<int32_t>(all->of(0).serial);
  firstRow_.assign(1, 0);
  for (int64_t p = 0; p < calls_.n(); ++p) {
    tokens_.push_back(all->of(p).tokens);
    firstRow_.push_back(firstRow_.back() + all->rows(p, calls_.me()));
  }
  return {};
}

void Dispatcher::packAll() {
  const int64_t me = calls_.me();
  notesIn_.resize(at(calls_.n()));
  notesOut_.resize(at(calls_.n()));
  rowsOut_.resize(at(calls_.n()));
  for (int64_t p = 0; p < calls_.n(); ++p) {
    notesOut_[at(p)] = writeNotes(d_, targets_, p);
    if (p == me) {
      packRows(d_, targets_, p, rowsAt(firstRow_[at(p)]));
      continue;
    }
    rowsOut_[at(p)].resize(at(targets_.count(at(p)) * d_.rowBytes()));
    packRows(d_, targets_, p, rowsOut_[at(p)].data());
    notesIn_[at(p)].resize(at(noteWords(d_, rowsFrom(p))));
  }
}

Status Dispatcher::moveAll() {
  std::vector<TokenTransfer> in, out;
  const auto wordBytes = static_cast<int64_t>(sizeof(int32_t));
  for (int64_t step = 1; step < calls_.n(); ++step) {
    const int64_t from = calls_.sourceIn(step), to = calls_.targetIn(step);
    if (const int64_t rows = rowsFrom(from); rows > 0) {
      in.push_back(
          {from, kNotesTag, nullptr, notesIn_[at(from)].data(), noteWords(d_, rows) * wordBytes});
      in.push_back({from, kRowsTag, nullptr, rowsAt(firstRow_[at(from)]), rows * d_.rowBytes()});
    }
    if (const int64_t rows = targets_.count(at(to)); rows > 0) {
      out.push_back(
          {to, kNotesTag, notesOut_[at(to)].data(), nullptr, noteWords(d_, rows) * wordBytes});
      out.push_back({to, kRowsTag, rowsOut_[at(to)].data(), nullptr, rows * d_.rowBytes()});
    }
  }
  return calls_.move(in, out);
}

Status Dispatcher::unpackAll() {
  std::fill_n(d_.counts, d_.localExperts, 0);
  for (int64_t p = 0; p < calls_.n(); ++p) {
    const std::vector<int32_t> &words = p == calls_.me() ? notesOut_[at(p)] : notesIn_[at(p)];
    NotesReceived notes{words.data(), rowsFrom(p), firstRow_[at(p)], tokens_[at(p)]};
    if (notes.rows == 0)
      continue;
    COLL_RETURN_IF_ERROR(readNotes(d_, notes).annotate("from " + calls_.rankAt(p)));
    std::fill_n(route_.sources() + notes.firstRow, notes.rows, static_cast<int32_t>(p));
  }
  const int64_t received = firstRow_.back();
  std::fill_n(route_.sources() + received, d_.shape.capacity - received, -1);
  clearBehind(d_, received);
  return {};
}

Status Dispatcher::run(int32_t serial) {
  for (const void *data : {d_.x, static_cast<const void *>(d_.rows)})
    COLL_RETURN_IF_ERROR(calls_.checkMemory(data));
  COLL_RETURN_IF_ERROR(greet(serial));
  packAll();
  COLL_RETURN_IF_ERROR(moveAll());
  COLL_RETURN_IF_ERROR(unpackAll());
  route_.finish({static_cast<int32_t>(calls_.n()), static_cast<int32_t>(calls_.me()), serial_});
  return {};
}

} // namespace

Status runDispatch(const TokenDispatch &dispatch, int32_t serial, const TokenPlace &place) {
  return Dispatcher(dispatch, place).run(serial);
}

} // namespace coll::rt
