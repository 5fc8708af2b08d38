#include "tools/coll-perf/net/job.h"

#include "runtime/base/env.h"
#include "tools/common/local_job.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::perf {

namespace {

constexpr size_t kMaxAddressBytes = 128;

// Only the forked peer needs to know it.
Result<net::Secret> freshSecret() {
  uint8_t bytes[32];
  if (Status filled = net::fillRandom(bytes, sizeof(bytes)); !filled.ok())
    return filled;
  return net::Secret::create({reinterpret_cast<const char *>(bytes), sizeof(bytes)});
}

} // namespace

Result<std::unique_ptr<Job>> Job::create(const NetPlace &place, int (*follow)(Job &)) {
  const bool alone = !place.isListener && place.connect.empty();
  Result<net::Secret> secret =
      alone ? freshSecret() : net::Secret::create(rt::envString(rt::EnvVar::Secret));
  if (!secret.ok())
    return secret.status().annotate("COLL_SECRET");
  std::unique_ptr<Job> job(new Job(place, *secret));
  Status ready;
  if (alone) {
    ready = job->fork(follow);
  } else if (place.isListener) {
    ready = job->join(0, place.listen.empty() ? ":0" : place.listen);
    if (ready.ok())
      std::printf("listening; start the peer with --connect=%s\n",
                  job->bootstrap_->address().c_str());
    std::fflush(stdout);
  } else {
    std::printf("connecting to %s, for up to %.0f s\n", place.connect.c_str(),
                static_cast<double>(place.timeoutUs) * 1e-6);
    std::fflush(stdout);
    ready = job->join(1, place.connect);
  }
  if (!ready.ok())
    return ready;
  return job;
}

Status Job::join(int rank, const std::string &address) {
  net::BootstrapOptions options;
  options.rank = rank;
  options.worldSize = 2;
  options.address = address;
  options.iface = place_.iface;
  options.timeoutUs = place_.timeoutUs;
  Result<std::unique_ptr<net::Bootstrap>> joined = net::Bootstrap::create(options, secret_);
  if (!joined.ok())
    return joined.status();
  bootstrap_ = joined.take();
  return {};
}

Status Job::fork(int (*follow)(Job &)) {
  int pipes[2];
  if (pipe(pipes) != 0)
    return net::linkError("pipe", errno);
  net::Fd read(pipes[0]), write(pipes[1]);
  pid_t parent = getpid();
  child_ = ::fork();
  if (child_ < 0)
    return net::linkError("fork", errno);
  if (child_ == 0) {
    // If the measuring process is killed, its peer ends, too.
    endWithParent(parent);
    write.reset();
    runChild(read.get(), follow);
  }
  COLL_RETURN_IF_ERROR(join(0, ":0"));
  const std::string &address = bootstrap_->address();
  if (::write(write.get(), address.data(), address.size()) != static_cast<ssize_t>(address.size()))
    return net::linkError("pipe to the peer", errno);
  return {};
}

void Job::runChild(int addressFd, int (*follow)(Job &)) {
  child_ = 0;
  char text[kMaxAddressBytes];
  ssize_t count = ::read(addressFd, text, sizeof(text));
  if (count <= 0)
    _exit(1);
  Status joined = join(1, std::string(text, static_cast<size_t>(count)));
  int code = 1;
  if (joined.ok())
    code = follow(*this);
  else
    std::fprintf(stderr, "coll-perf: the peer: %s\n", joined.message().c_str());
  bootstrap_.reset();
  std::fflush(nullptr);
  _exit(code);
}

Result<std::string> Job::swap(const std::string &mine) {
  Result<std::vector<std::string>> all = bootstrap_->allgather(mine, place_.timeoutUs);
  if (!all.ok())
    return all.status();
  return (*all)[static_cast<size_t>(1 - rank())];
}

Status Job::finish() {
  if (child_ <= 0)
    return {};
  int state = 0;
  pid_t ended = waitpid(child_, &state, 0);
  child_ = 0;
  if (ended < 0 || !WIFEXITED(state) || WEXITSTATUS(state) != 0)
    return {kCollPeer, "the peer process failed"};
  return {};
}

Job::~Job() {
  if (child_ <= 0)
    return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

} // namespace coll::perf
