// coll-perf net: measures a transport between two processes and, for comparison, plain sockets.

#include "runtime/base/env.h"
#include "runtime/net/tcp/tcp.h"
#include "tools/coll-perf/command.h"
#include "tools/coll-perf/net/report.h"
#include "tools/coll-perf/op/options.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/plot.h"
#include "tools/coll-perf/units.h"

#include <CLI/CLI.hpp>

namespace coll::perf {

namespace {

// The command line, before it is checked.
struct Words {
  NetPlan plan;
  NetPlace place;
  std::string sizes = "8,64,1K,4K,16K,64K..4M", modes = "latency,one-way,both-ways", op = "send";
  int rails = 0; // 0: from the environment
  std::string json, plot, command;
  bool noPeer = false;
};

// Makes the links to compare, ours first.
Result<std::vector<std::unique_ptr<Link>>> makeLinks(Job &job, const NetPlan &plan) {
  std::vector<std::unique_ptr<Link>> links;
  Result<std::unique_ptr<Link>> ours = makeTransportLink(job, plan);
  if (!ours.ok())
    return ours.status();
  links.push_back(ours.take());
  bool rdma = plan.transport == "verbs";
  if (!plan.peer || (!rdma && plan.op != Op::Send))
    return links;
  Result<std::unique_ptr<Link>> peer =
      rdma ? makePerftestLink(job, plan, links.front()->device()) : makeRawLink(job, plan);
  if (!peer.ok())
    return peer.status();
  if (*peer)
    links.push_back(peer.take());
  return links;
}

// Rank 1: does its part of everything that rank 0 asks for, in the same order.
Status followAll(Job &job) {
  Result<std::string> text = job.swap("");
  if (!text.ok())
    return text.status();
  Result<NetPlan> plan = decodePlan(*text);
  if (!plan.ok())
    return plan.status();
  Result<std::vector<std::unique_ptr<Link>>> links = makeLinks(job, *plan);
  if (!links.ok())
    return links.status();
  for (Mode mode : plan->modes)
    for (uint64_t bytes : plan->sizes) {
      for (std::unique_ptr<Link> &link : *links)
        COLL_RETURN_IF_ERROR(link->verify(bytes));
      for (int turn = 0; turn < plan->repeat; ++turn)
        for (std::unique_ptr<Link> &link : *links)
          COLL_RETURN_IF_ERROR(follow(job, *link, mode, bytes));
    }
  return job.swap("").status();
}

int followPeer(Job &job) {
  Status status = followAll(job);
  return status.ok() ? 0 : fail(status.annotate("the peer"));
}

Figure medianOf(const std::vector<Figure> &figures) {
  std::vector<double> values, p99, cores;
  for (const Figure &figure : figures) {
    values.push_back(figure.value);
    p99.push_back(figure.p99);
    cores.push_back(figure.cores);
  }
  return {median(values), median(p99), median(cores)};
}

// Rank 0: measures one size in one mode, alternating between the links.
Result<Point> measurePoint(Job &job, const NetPlan &plan, std::vector<std::unique_ptr<Link>> &links,
                           Mode mode, uint64_t bytes) {
  std::vector<std::vector<Figure>> figures(2);
  std::vector<uint64_t> counts(2, 0);
  for (std::unique_ptr<Link> &link : links)
    COLL_RETURN_IF_ERROR(link->verify(bytes));
  for (int turn = 0; turn < plan.repeat; ++turn)
    for (size_t i = 0; i < links.size(); ++i) {
      Result<Figure> figure = measure(job, *links[i], plan, mode, bytes, counts[i]);
      if (!figure.ok())
        return figure.status();
      figures[i].push_back(*figure);
    }
  return Point{mode, bytes, medianOf(figures[0]), medianOf(figures[1])};
}

Status leadAll(Job &job, const Words &words) {
  const NetPlan &plan = words.plan;
  COLL_RETURN_IF_ERROR(job.swap(encode(plan)).status());
  Result<std::vector<std::unique_ptr<Link>>> links = makeLinks(job, plan);
  if (!links.ok())
    return links.status();
  Report report(plan, links->front()->describe(),
                links->size() > 1 ? links->back()->describe() : "", words.json, words.command);
  for (Mode mode : plan.modes)
    for (uint64_t bytes : plan.sizes) {
      Result<Point> point = measurePoint(job, plan, *links, mode, bytes);
      if (!point.ok())
        return point.status();
      COLL_RETURN_IF_ERROR(report.add(*point));
    }
  COLL_RETURN_IF_ERROR(job.swap("").status());
  if (!words.plot.empty())
    COLL_RETURN_IF_ERROR(report.writePlot(words.plot));
  return {};
}

Status prepare(Words &words) {
  NetPlan &plan = words.plan;
  Result<std::vector<uint64_t>> sizes = parseSizes(words.sizes);
  Result<std::vector<Mode>> modes = parseModes(words.modes);
  Result<Op> op = parseOp(words.op);
  for (const auto &[status, flag] :
       {std::pair(sizes.status(), "--sizes"), {modes.status(), "--modes"}, {op.status(), "--op"}})
    if (!status.ok())
      return status.annotate(flag);
  plan.sizes = *sizes;
  plan.modes = *modes;
  plan.op = *op;
  plan.peer = !words.noPeer;
  plan.rails = words.rails ? words.rails : static_cast<int>(rt::envInt(rt::EnvVar::NetRails));
  words.place.timeoutUs = rt::envInt(rt::EnvVar::TimeoutUs);
  if (plan.sockets == 0 && plan.transport == "tcp")
    plan.sockets = net::TcpOptions::fromEnv().dataStreams; // 0: by the cores of each side
  if (words.place.iface.empty())
    words.place.iface = rt::envString(rt::EnvVar::NetIface);
  bool alone = !words.place.isListener && words.place.connect.empty();
  if (words.place.iface.empty() && alone && plan.transport == "tcp")
    words.place.iface = "lo";
  return check(plan);
}

int runNet(Words &words) {
  if (Status ready = prepare(words); !ready.ok())
    return fail(ready);
  Result<std::unique_ptr<Job>> job = Job::create(words.place, followPeer);
  if (!job.ok())
    return fail(job.status());
  if ((*job)->rank() == 1)
    return followPeer(**job);
  Status status = leadAll(**job, words);
  if (status.ok())
    status = (*job)->finish();
  return status.ok() ? 0 : fail(status);
}

void addMeasured(CLI::App &app, Words &words) {
  const char *group = "What is measured";
  app.add_option("--transport", words.plan.transport, "tcp or verbs")
      ->group(group)
      ->capture_default_str();
  app.add_option("--sizes", words.sizes,
                 "message sizes: 8,64K,1M; 4K..1M for the powers of two between")
      ->group(group)
      ->capture_default_str();
  app.add_option("--modes", words.modes, "list of latency, one-way, both-ways")
      ->group(group)
      ->capture_default_str();
  app.add_option("--op", words.op, "send (messages), write or read (remote memory)")
      ->group(group)
      ->capture_default_str();
  app.add_option("--connections", words.plan.connections,
                 "number of connections, all driven by one thread")
      ->group(group)
      ->capture_default_str();
  app.add_option("--inflight", words.plan.inflight,
                 "messages in flight per connection and direction")
      ->group(group)
      ->capture_default_str();
  app.add_option("--rails", words.rails,
                 "devices of --iface (verbs: COLL_NET_RDMA_DEVICES) that each connection uses at "
                 "once; 0: COLL_NET_RAILS")
      ->group(group)
      ->capture_default_str();
  app.add_option("--sockets", words.plan.sockets,
                 "data sockets per connection and device (verbs: queue pairs); 0: the transport's "
                 "default")
      ->group(group)
      ->capture_default_str();
  app.add_option("--threads", words.plan.threads, "threads of the transport; 0: its default")
      ->group(group)
      ->capture_default_str();
}

void addPlace(CLI::App &app, Words &words) {
  const char *group =
      "Between machines (both need the same COLL_SECRET; the listening one decides what "
      "is measured)";
  CLI::Option *listen =
      app.add_option(
             "--listen", words.place.listen,
             "wait for the peer, at [HOST]:PORT if given; by default the peer is started here")
          ->group(group)
          ->expected(0, 1)
          ->option_text("[[HOST]:PORT]");
  app.add_option("--connect", words.place.connect, "address where the other coll-perf net listens")
      ->group(group)
      ->excludes(listen)
      ->option_text("HOST:PORT");
  app.add_option("--iface", words.place.iface,
                 "like COLL_NET_IFACE; lo if the peer is started here")
      ->group(group);
}

void addOutput(CLI::App &app, Words &words) {
  const char *group = "Accuracy and output";
  app.add_option("--seconds", words.plan.seconds, "seconds per figure")
      ->group(group)
      ->capture_default_str();
  app.add_option("--repeat", words.plan.repeat, "figures per size; the median counts")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--no-peer", words.noPeer, "leave out raw sockets (perftest for verbs)")
      ->group(group);
  app.add_option("--json", words.json, "append rows to this file")
      ->group(group)
      ->check(whyNotWritable);
  app.add_option("--plot", words.plot, kPlotHelp)->group(group)->check(whyNotPlottable);
}

} // namespace

Command addNet(CLI::App &app, int argc, char **argv) {
  auto words = std::make_shared<Words>();
  words->command = shownCommand(argc, argv);
  CLI::App *net =
      app.add_subcommand("net", "latency and bandwidth of a transport between two processes");
  net->footer("Examples:\n"
              "  coll-perf net --sizes=64K..4M --modes=one-way --json=net.jsonl --plot=net.svg\n"
              "  coll-perf net --connections=16 --inflight=8 --sizes=128K..4M   as NCCL does\n"
              "  coll-perf net --rails=2 --iface=eth0,eth1   each connection uses both at once\n"
              "  coll-perf net --listen=:7000          on one machine\n"
              "  coll-perf net --connect=HOST:7000     on the other");
  addMeasured(*net, *words);
  addPlace(*net, *words);
  addOutput(*net, *words);
  return {net, [words, net] {
            words->place.isListener = net->count("--listen") > 0;
            return runNet(*words);
          }};
}

} // namespace coll::perf
