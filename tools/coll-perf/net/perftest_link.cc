// The comparison for the verbs transport: perftest's programs, in their own processes. Rank 0 runs
// their server, rank 1 their client, whose output is used.

#include "tools/coll-perf/net/link.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <unistd.h>

namespace coll::perf {

namespace {

using net::Address;
using net::Fd;

constexpr int kAttempts = 30; // to reach a server that is starting

std::string findProgram(const std::string &name) {
  for (const char *folder : {"/usr/bin/", "/usr/local/bin/"})
    if (access((folder + name).c_str(), X_OK) == 0)
      return folder + name;
  return {};
}

// Returns the output of a command; an error if it fails.
Result<std::string> outputOf(const std::string &command) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe)
    return Status(kCollDevice, "cannot start " + command);
  std::string text;
  char buffer[4096];
  while (size_t count = fread(buffer, 1, sizeof(buffer), pipe))
    text.append(buffer, count);
  if (pclose(pipe) != 0)
    return Status(kCollDevice, command + " failed: " + text.substr(0, 2000));
  return text;
}

// Returns the numbers after `bytes` in the line that begins with it.
std::vector<double> figuresFor(const std::string &text, uint64_t bytes) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uint64_t first = 0;
    if (!(words >> first) || first != bytes)
      continue;
    std::vector<double> figures;
    for (double value = 0; words >> value;)
      figures.push_back(value);
    return figures;
  }
  return {};
}

class PerftestLink final : public Link {
public:
  PerftestLink(Job &job, const NetPlan &plan, const std::string &devices) : job_(job), plan_(plan) {
    const std::string device = devices.substr(0, devices.find('+'));
    size_t colon = device.rfind(':');
    device_ = "-d " + device.substr(0, colon);
    if (colon != std::string::npos)
      device_ += " -i " + device.substr(colon + 1);
  }

  // Returns true if both ranks have the programs.
  Result<bool> available();
  std::string describe() const override {
    return std::string("perftest's ") + verb() + " programs";
  }
  Status verify(uint64_t) override { return {}; }
  Status pingPong(uint64_t bytes, uint64_t count, std::vector<double> &timesUs) override;
  Result<double> stream(uint64_t bytes, uint64_t count, bool bothWays) override;

private:
  const char *verb() const {
    return plan_.op == Op::Send ? "ib_send" : plan_.op == Op::Write ? "ib_write" : "ib_read";
  }
  Result<std::string> run(const std::string &program, const std::string &options);

  Job &job_;
  NetPlan plan_;
  std::string device_; // as an option of perftest
  std::string host_;   // of rank 0
};

Result<bool> PerftestLink::available() {
  bool here = !findProgram(std::string(verb()) + "_bw").empty() &&
              !findProgram(std::string(verb()) + "_lat").empty();
  std::string mine = here ? "yes" : "no";
  if (job_.rank() == 0) {
    Result<std::vector<net::Interface>> interfaces = net::findInterfaces(job_.place().iface);
    if (!interfaces.ok())
      return interfaces.status();
    host_ = interfaces->front().address.toString();
    host_.resize(host_.rfind(':'));
    mine += " " + host_;
  }
  Result<std::string> theirs = job_.swap(mine);
  if (!theirs.ok())
    return theirs.status();
  if (job_.rank() == 1 && theirs->find(' ') != std::string::npos)
    host_ = theirs->substr(theirs->find(' ') + 1);
  return here && theirs->rfind("yes", 0) == 0;
}

// Runs `program` on both ranks; both return the client's output.
Result<std::string> PerftestLink::run(const std::string &program, const std::string &options) {
  std::string port;
  if (job_.rank() == 0) {
    // A port that is free now.
    Result<Address> any = Address::parse("0.0.0.0:0");
    Result<Fd> fd = any.ok() ? net::listenOn(*any) : Result<Fd>(any.status());
    Result<Address> local = fd.ok() ? net::localAddress(*fd) : Result<Address>(fd.status());
    if (!local.ok())
      return local.status();
    port = std::to_string(local->port());
  }
  Result<std::string> theirs = job_.swap(port);
  if (!theirs.ok())
    return theirs.status();
  std::string command = findProgram(program) + " -F " + device_ + " " + options + " -p ";
  if (job_.rank() == 0) {
    Result<std::string> served = outputOf("timeout 60 " + command + port);
    Result<std::string> text = job_.swap(served.ok() ? "ok" : served.status().message());
    return served.ok() ? text : served;
  }
  // The server needs a moment to listen.
  for (char c : *theirs + host_)
    if (!std::strchr("0123456789abcdefABCDEF.:[]", c))
      return Status(kCollMismatch, "rank 0 sent no address");
  Result<std::string> text = Status::internal("not run");
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    usleep(300'000);
    text = outputOf("timeout 60 " + command + *theirs + " " + host_);
    if (text.ok() || text.status().message().find("Couldn't connect") == std::string::npos)
      break;
  }
  Result<std::string> state = job_.swap(text.ok() ? *text : "");
  return state.ok() ? text : state;
}

Status PerftestLink::pingPong(uint64_t bytes, uint64_t count, std::vector<double> &timesUs) {
  std::string rounds = std::to_string(std::max<uint64_t>(count, 10));
  Result<std::string> text =
      run(std::string(verb()) + "_lat", "-s " + std::to_string(bytes) + " -n " + rounds);
  if (!text.ok())
    return text.status();
  // Iterations, shortest, longest, typical, …
  std::vector<double> figures = figuresFor(*text, bytes);
  if (figures.size() < 4)
    return {kCollMismatch, "the output of perftest has no table of results"};
  // perftest reports half a round trip for a send.
  double typical = figures[3] * (plan_.op == Op::Send ? 2 : 1);
  timesUs.assign(count, typical);
  return {};
}

Result<double> PerftestLink::stream(uint64_t bytes, uint64_t count, bool bothWays) {
  uint64_t rounds = std::max<uint64_t>(count, 10);
  std::string options = "-s " + std::to_string(bytes) + " -n " + std::to_string(rounds) + " -q " +
                        std::to_string(plan_.connections) + (bothWays ? " -b" : "");
  Result<std::string> text = run(std::string(verb()) + "_bw", options);
  if (!text.ok())
    return text.status();
  // Iterations, peak, average in MiB/s, of both directions together.
  std::vector<double> figures = figuresFor(*text, bytes);
  if (figures.size() < 3 || !(figures[2] > 0))
    return Status(kCollMismatch, "the output of perftest has no table of results");
  double rate = figures[2] * (1 << 20) / (bothWays ? 2 : 1);
  return static_cast<double>(bytes * count) * plan_.connections / rate;
}

} // namespace

Result<std::unique_ptr<Link>> makePerftestLink(Job &job, const NetPlan &plan,
                                               const std::string &device) {
  auto link = std::make_unique<PerftestLink>(job, plan, device);
  Result<bool> available = link->available();
  if (!available.ok())
    return available.status();
  if (!*available)
    return std::unique_ptr<Link>();
  return std::unique_ptr<Link>(std::move(link));
}

} // namespace coll::perf
