//===- parser_process.cc - starts a parser and watches it ------------------------===//

#include "compiler/parser_process.h"
#include "compiler/parser_wire.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::run {
namespace {

using Clock = std::chrono::steady_clock;

/// The largest text that is accepted in an answer.
constexpr size_t kMostTextBytes = size_t(64) << 20;
constexpr size_t kChunkBytes = size_t(1) << 20;

/// A process that was started and is ended, at the latest, with this object.
class Child {
public:
  Child() = default;
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;
  ~Child() {
    (void)end();
    if (socket_ >= 0)
      close(socket_);
  }

  /// Its standard input is a socket to here; it has no other descriptor of this process.
  int start(const std::string &program);
  int socket() const { return socket_; }
  /// Kills the process if it has not ended by itself, and returns its wait status.
  int end() {
    if (pid_ <= 0)
      return 0;
    int status = 0;
    kill(pid_, SIGKILL); // no effect on a process that has ended
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

int Child::start(const std::string &program) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return errno;
  socket_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // Signals as a new program expects them, whatever this process does with them.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = program;
  char *arguments[] = {name.data(), nullptr}, *environment[] = {nullptr};
  const int failure =
      posix_spawn(&pid_, program.c_str(), &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failure)
    pid_ = -1;
  return failure;
}

/// Sends and receives until the answer is complete, the other end is closed, or the deadline
/// has passed.
class Exchange {
public:
  Exchange(int socket, int64_t timeoutUs)
      : socket_(socket), deadline_(Clock::now() + std::chrono::microseconds(timeoutUs)) {}

  void put(llvm::StringRef bytes) { output_.push_back(bytes); }
  bool isLate() const { return isLate_; }
  /// Receives until `bytes` are there, or one is more than `most`. Whether they are.
  bool get(std::string &data, uint64_t bytes, size_t most);

private:
  bool wait(bool sends);
  bool sendSome();

  const int socket_;
  const Clock::time_point deadline_;
  llvm::SmallVector<llvm::StringRef> output_;
  bool isLate_ = false;
};

bool Exchange::wait(bool sends) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now()).count();
  isLate_ = left <= 0;
  if (isLate_)
    return false;
  pollfd poll = {socket_, static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0};
  const int ready = ::poll(&poll, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
  return ready >= 0 || errno == EINTR;
}

bool Exchange::sendSome() {
  if (output_.empty())
    return true;
  llvm::StringRef &first = output_.front();
  const ssize_t sent = ::send(socket_, first.data(), std::min(first.size(), kChunkBytes),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0)
    return errno == EAGAIN || errno == EINTR;
  first = first.drop_front(static_cast<size_t>(sent));
  if (first.empty())
    output_.erase(output_.begin());
  return true;
}

bool Exchange::get(std::string &data, uint64_t bytes, size_t most) {
  if (bytes > most)
    return false;
  data.clear();
  while (data.size() < bytes) {
    // An error of sending shows when the other end's answer, or its absence, has been read.
    if (!wait(!output_.empty()) || (!sendSome() && !output_.empty()))
      output_.clear();
    if (isLate_)
      return false;
    const size_t before = data.size();
    data.resize(before + std::min<size_t>(bytes - before, kChunkBytes));
    const ssize_t got = recv(socket_, &data[before], data.size() - before, MSG_DONTWAIT);
    data.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return false;
  }
  return true;
}

std::string megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// Why a parser that ended with `status` gave no answer.
std::string describeEnd(const ParserProcess &parser, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == wire::kOutOfMemory)
    return "parsing the step takes more than the " + megabytes(parser.memoryBytes) +
           " that its parser may use";
  const std::string how = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                              : "exit code " + std::to_string(WEXITSTATUS(status));
  return "the step's parser '" + parser.program + "' gave no answer (" + how +
         "): the text is corrupt, or the program is not a parser of this version";
}

bool readMessages(llvm::StringRef json, std::vector<Message> &messages) {
  llvm::Expected<std::vector<Message>> read = llvm::json::parse<std::vector<Message>>(json);
  if (!read) {
    llvm::consumeError(read.takeError());
    return false;
  }
  messages = std::move(*read);
  return true;
}

/// Whether there was an answer.
bool readAnswer(Exchange &exchange, uint64_t memoryBytes, ParsedApart &parsed) {
  std::string head, messages;
  wire::Answer answer;
  if (!exchange.get(head, sizeof(answer), sizeof(answer)))
    return false;
  std::memcpy(&answer, head.data(), sizeof(answer));
  if (answer.magic != wire::kMagic ||
      !exchange.get(messages, answer.messageBytes, kMostTextBytes) ||
      !exchange.get(parsed.why, answer.whyBytes, kMostTextBytes) ||
      !exchange.get(parsed.bytecode, answer.codeBytes, memoryBytes) ||
      !readMessages(messages, parsed.messages))
    return false;
  parsed.end = parsed.bytecode.empty() ? ParsedApart::End::Refused : ParsedApart::End::Parsed;
  return true;
}

} // namespace

ParsedApart parseApart(const ParserProcess &parser, llvm::StringRef name, llvm::StringRef text,
                       std::optional<int64_t> stateArgs) {
  ParsedApart parsed;
  Child child;
  if (const int failure = child.start(parser.program)) {
    parsed.end = ParsedApart::End::Unavailable;
    parsed.why = "cannot start the step's parser '" + parser.program + "': " + strerror(failure);
    return parsed;
  }
  const wire::Request request = {wire::kMagic, name.size(), text.size(), parser.memoryBytes,
                                 stateArgs.value_or(-1)};
  Exchange exchange(child.socket(), parser.timeoutUs);
  exchange.put({reinterpret_cast<const char *>(&request), sizeof(request)});
  if (!name.empty())
    exchange.put(name);
  if (!text.empty())
    exchange.put(text);
  if (readAnswer(exchange, parser.memoryBytes, parsed))
    return parsed;
  parsed = ParsedApart();
  if (exchange.isLate()) {
    parsed.end = ParsedApart::End::TimedOut;
    parsed.why = "the step's parser '" + parser.program + "' gave no answer in " +
                 std::to_string(parser.timeoutUs / 1000) + " ms";
    return parsed;
  }
  parsed.why = describeEnd(parser, child.end());
  return parsed;
}

} // namespace coll::run
