#include "test/net/namespaces.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::net::test {

namespace {

Fd ownNamespace() { return Fd(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)); }

// A process that keeps its own namespace alive until it is killed.
struct Holder {
  pid_t pid = -1;
  int error = 0;

  Holder() {
    int pipes[2];
    if (pipe(pipes) != 0) {
      error = errno;
      return;
    }
    Fd in(pipes[0]), out(pipes[1]);
    pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      int outcome = unshare(CLONE_NEWNET) == 0 ? 0 : errno;
      if (write(out.get(), &outcome, sizeof(outcome)) == sizeof(outcome))
        pause();
      _exit(0);
    }
    out.reset();
    if (pid < 0 || read(in.get(), &error, sizeof(error)) != sizeof(error))
      error = pid < 0 ? errno : EPIPE;
  }
  ~Holder() {
    if (pid <= 0)
      return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
};

} // namespace

Namespaces::Inside::Inside(const Namespaces &namespaces, int side) : home_(ownNamespace()) {
  if (setns(namespaces.sides_[side].get(), CLONE_NEWNET) != 0)
    std::abort();
}

Namespaces::Inside::~Inside() {
  if (setns(home_.get(), CLONE_NEWNET) != 0)
    std::abort();
}

Result<Namespaces *> Namespaces::get() {
  static Namespaces pair;
  static Status made = pair.create();
  if (!made.ok())
    return made;
  return &pair;
}

Status Namespaces::configure(int side, const std::string &commands) const {
  Inside inside(*this, side);
  if (std::system(("{ " + commands + "; } >/dev/null 2>&1").c_str()) != 0)
    return {kCollUnsupported, "`ip` failed, or is not there"};
  return {};
}

Status Namespaces::create() {
  Holder holders[2];
  for (int side : {0, 1}) {
    if (holders[side].error)
      return {kCollUnsupported,
              "no network namespaces: " + linkError("unshare", holders[side].error).message()};
    std::string path = "/proc/" + std::to_string(holders[side].pid) + "/ns/net";
    sides_[side] = Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!sides_[side].valid())
      return {kCollUnsupported, linkError(path, errno).message()};
  }
  for (std::string name : {"coll0", "coll1"}) {
    Status cable = configure(0, "ip link add " + name + " type veth peer name " + name + " netns " +
                                    std::to_string(holders[1].pid));
    if (!cable.ok())
      return cable.annotate("no pair of virtual interfaces");
  }
  for (int side : {0, 1}) {
    std::string number = std::to_string(side + 1);
    COLL_RETURN_IF_ERROR(configure(side, "ip link set lo up && ip addr add 10.77.0." + number +
                                             "/24 dev coll0 && ip link set coll0 up && " +
                                             "ip -6 addr add fd77::" + number +
                                             "/64 dev coll0 nodad && ip addr add 10.78.0." +
                                             number + "/24 dev coll1 && ip link set coll1 up"));
  }
  return {};
}

Status Namespaces::setLink(int side, bool up, int cable) const {
  std::string name = "coll" + std::to_string(cable);
  if (!up || cable != 0)
    return configure(side, "ip link set " + name + (up ? " up" : " down"));
  // An interface that goes down loses its IPv6 addresses.
  return configure(side, "ip link set coll0 up && ip -6 addr replace fd77::" +
                             std::to_string(side + 1) + "/64 dev coll0 nodad");
}

Status Namespaces::sentBytes(int side, int cable, uint64_t &bytes) const {
  Inside inside(*this, side);
  std::string name = "coll" + std::to_string(cable) + ":";
  std::ifstream table("/proc/thread-self/net/dev");
  for (std::string word; table >> word;)
    if (word == name) {
      for (int column = 0; column < 9; ++column)
        table >> bytes; // the ninth: sent
      return {};
    }
  return {kCollDevice, "no interface " + name};
}

} // namespace coll::net::test
