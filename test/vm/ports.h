// ports.h - controls the ports of the virtual machine (two_ports.sh).

#ifndef COLL_TEST_VM_PORTS_H
#define COLL_TEST_VM_PORTS_H

#include "runtime/net/socket.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace coll::net::test {

inline bool isInMachine() { return access("/sys/class/infiniband/ra", F_OK) == 0; }

#define COLL_NEEDS_MACHINE()                                                                       \
  if (!::coll::net::test::isInMachine())                                                           \
  GTEST_SKIP() << "needs the ports of the virtual machine (test/vm/suite.sh)"

inline void run(const std::string &command) {
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

inline bool isPortActive(const std::string &device) {
  std::ifstream file("/sys/class/infiniband/" + device + "/ports/1/state");
  std::string state;
  std::getline(file, state);
  return state.find("ACTIVE") != std::string::npos;
}

// Waits until both ends of the wire are active or not.
inline void awaitPorts(bool areActive) {
  for (int64_t end = nowUs() + 10'000'000; nowUs() < end;) {
    if (isPortActive("ra") == areActive && isPortActive("rb") == areActive)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ADD_FAILURE() << "the ports did not change";
}

// Gives ports that are up again what they lost.
inline void routePorts() { run("bash -c '. /run/two_ports.sh && route_ports'"); }

// Cuts the wire between ra and rb, or repairs it.
inline void setWire(bool isUp) {
  for (const char *port : {"va", "vb"})
    run(std::string("ip link set ") + port + (isUp ? " up" : " down"));
  if (isUp)
    routePorts();
  awaitPorts(isUp);
}

} // namespace coll::net::test

#endif // COLL_TEST_VM_PORTS_H
