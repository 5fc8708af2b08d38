// coll-perf tune: finds the fastest backend for each call on this machine and writes a table of
// routes; with --paths, the fastest path of messages of GPU memory.

#include "runtime/backend/auto/routes.h"
#include "runtime/base/dtype.h"
#include "runtime/base/table_file.h"
#include "tools/coll-perf/command.h"
#include "tools/coll-perf/op/options.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/tune/paths.h"
#include "tools/coll-perf/units.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace coll::perf {

namespace {

// A backend must be faster than the best one before it in the list by this share, so that noise
// does not make routes.
constexpr double kMargin = 0.05;

struct Words {
  OpWords op;
  std::string ops = "all_reduce,all_gather,reduce_scatter,broadcast,reduce,all_to_all";
  std::string out, command;
  bool paths = false;
};

// The best side of one size.
struct Choice {
  int64_t bytes = 0; // as a route counts them
  const Side *side = nullptr;
  std::string why;
};

std::string microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f us", us);
  return text;
}

// A backend may occur only once for each kind of memory, because routes name backends without
// variants.
Status check(const std::vector<Side> &sides) {
  for (const Side &side : sides) {
    if (side.backend == "auto")
      return Status::invalid("--backend: auto reads the table, so it cannot be measured for it");
    if (side.registered != Registered::No)
      return Status::invalid("--backend: a route cannot ask for registered buffers");
    for (const Side &other : sides)
      if (&side != &other && side.backend == other.backend && side.memory == other.memory)
        return Status::invalid("--backend: " + side.label + " and " + other.label +
                               " are the same backend in a route");
  }
  return {};
}

// Returns the fastest of the sides with this kind of memory; null if there is none.
Result<Choice> best(const OpPlan &plan, std::vector<std::unique_ptr<Team>> &teams,
                    MemoryKind memory, uint64_t bytes) {
  Choice choice;
  double bestUs = INFINITY;
  std::string others;
  int64_t count = countOf(plan, bytes);
  choice.bytes = rt::queryOf(Reference(plan, count).call(), plan.ranks, false).bytes;
  for (std::unique_ptr<Team> &team : teams) {
    if (team->side().memory != memory)
      continue;
    Result<OpFigure> figure = measureMedian(plan, *team, {bytes, Placement::Out, plan.timings[0]});
    if (!figure.ok() && figure.status().code() == kCollUnsupported)
      continue;
    if (!figure.ok())
      return figure.status().annotate(team->side().label);
    if (figure->wrong > 0)
      return Status(kCollInternal, team->side().label + ": the results are wrong");
    std::string seen = team->side().backend + " " + microseconds(figure->maxUs);
    if (figure->maxUs < bestUs * (1 - kMargin)) {
      if (choice.side)
        others += "; " + choice.why;
      bestUs = figure->maxUs;
      choice.side = &team->side();
      choice.why = seen;
    } else {
      others += "; " + seen;
    }
  }
  choice.why += others;
  return choice;
}

// Turns consecutive sizes with the same side into one route; the last route has no end.
void addRoutes(const OpPlan &plan, MemoryKind memory, const std::vector<Choice> &choices,
               nlohmann::ordered_json &routes) {
  for (size_t i = 0; i < choices.size(); ++i) {
    const bool isLast = i + 1 == choices.size();
    if (!choices[i].side || (!isLast && choices[i + 1].side == choices[i].side))
      continue;
    // Other types, other groups, and calls made in another way were not measured.
    nlohmann::ordered_json route = {{"op", plan.op},
                                    {"dtype", rt::dtypeName(plan.dtype)},
                                    {"memory", nameOf(memory)},
                                    {"ranks", plan.ranks},
                                    {"group", "all"},
                                    {"captured", plan.timings[0] == Timing::Graph}};
    if (!isLast)
      route["max_bytes"] = choices[i].bytes;
    route["backend"] = choices[i].side->backend;
    route["why"] =
        "at " + formatBytes(static_cast<uint64_t>(choices[i].bytes)) + ": " + choices[i].why;
    std::printf("  %s\n", route.dump().c_str());
    routes.push_back(std::move(route));
  }
  std::fflush(stdout);
}

Status tuneOp(const OpPlan &plan, const std::vector<Side> &sides, nlohmann::ordered_json &routes,
              bool &any) {
  std::printf("%s\n", plan.op.c_str());
  Result<std::vector<std::unique_ptr<Team>>> teams = startTeams(plan, sides);
  if (!teams.ok())
    return teams.status();
  any |= !teams->empty();
  for (MemoryKind memory : {MemoryKind::Host, MemoryKind::Gpu}) {
    std::vector<Choice> choices;
    for (uint64_t bytes : plan.sizes()) {
      Result<Choice> choice = best(plan, *teams, memory, bytes);
      if (!choice.ok())
        return choice.status();
      choices.push_back(*choice);
    }
    addRoutes(plan, memory, choices, routes);
  }
  return {};
}

// Reads the existing table; null if there is none. A pipe is not read.
Result<nlohmann::ordered_json> oldTable(const std::string &path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none) || std::filesystem::file_size(path, none) == 0)
    return nlohmann::ordered_json();
  Result<std::string> text = rt::readTableFile(path);
  if (!text)
    return text.status();
  if (Result<rt::Routes> sound = rt::Routes::parse(*text, path); !sound)
    return sound.status();
  return nlohmann::ordered_json::parse(*text);
}

// Returns the machine that a table was made on; "" if it does not say.
std::string machineOf(const nlohmann::ordered_json &table) {
  auto machine = table.find("machine");
  return machine != table.end() && machine->is_string() ? machine->get<std::string>() : "";
}

// Measurements of two machines must not be mixed in one table.
Status checkMachine(const nlohmann::ordered_json &table, const std::string &path) {
  const std::string there = machineOf(table), here = machineName();
  if (there.empty() || there == here)
    return {};
  return Status::invalid(path + ": made on " + there + ", but this is " + here +
                         ": a table belongs to one machine, so give another file with --out");
}

nlohmann::ordered_json newTable(const Words &words, nlohmann::ordered_json routes) {
  return {{"format", "coll routes"},
          {"version", 1},
          {"made_by", words.command},
          {"machine", machineName()},
          {"routes", std::move(routes)}};
}

Status write(const std::string &path, const nlohmann::ordered_json &table) {
  // A file name may contain any bytes.
  const std::string text =
      table.dump(1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace) +
      "\n";
  // Checks that the written text can be read.
  COLL_RETURN_IF_ERROR(rt::Routes::parse(text, path).status());
  COLL_RETURN_IF_ERROR(replaceFile(path, text));
  std::printf("COLL_ROUTES=%s\n", path.c_str());
  return {};
}

// Keeps the routes, and the paths of other kinds of transport.
int runPaths(Words &words) {
  Result<nlohmann::ordered_json> table = oldTable(words.out);
  Result<OpSetup> setup = prepare(words.op);
  if (!table || !setup)
    return fail(table ? setup.status() : table.status());
  if (Status same = checkMachine(*table, words.out); !same.ok())
    return fail(same);
  std::printf("%s\n", machineName().c_str());
  Result<nlohmann::ordered_json> measured = tunePaths(setup->plan);
  if (!measured)
    return fail(measured.status());
  if (measured->empty())
    return kSkipped;
  if (table->is_null())
    *table = newTable(words, nlohmann::ordered_json::array());
  if (machineOf(*table).empty())
    (*table)["machine"] = machineName();
  nlohmann::ordered_json paths = nlohmann::ordered_json::array();
  for (const nlohmann::ordered_json &old : table->value("paths", nlohmann::ordered_json::array()))
    if (old["kind"] != measured->front()["kind"])
      paths.push_back(old);
  paths.insert(paths.end(), measured->begin(), measured->end());
  (*table)["paths"] = std::move(paths);
  Status written = write(words.out, *table);
  return written.ok() ? 0 : fail(written);
}

int runTune(Words &words) {
  nlohmann::ordered_json routes = nlohmann::ordered_json::array();
  bool any = false;
  const std::vector<std::string> ops = splitWords(words.ops);
  for (const std::string &op : ops)
    if (!isOp(op) || op == "send_recv" || op == "root_update")
      return fail(Status::invalid("--ops: \"" + op + "\" is not a collective operation"));
  std::printf("%s\n", machineName().c_str());
  for (const std::string &op : ops) {
    words.op.op = op;
    Result<OpSetup> setup = prepare(words.op);
    if (!setup.ok())
      return fail(setup.status());
    if (Status fits = check(setup->sides); !fits.ok())
      return fail(fits);
    if (setup->plan.timings.size() != 1)
      return fail(Status::invalid("--timing: give one kind, which decides the routes"));
    if (Status tuned = tuneOp(setup->plan, setup->sides, routes, any); !tuned.ok())
      return fail(tuned);
  }
  if (!any)
    return kSkipped;
  nlohmann::ordered_json table = newTable(words, std::move(routes));
  // A file that is not a table is replaced; the other part of a table is kept.
  if (Result<nlohmann::ordered_json> old = oldTable(words.out); old && old->contains("paths")) {
    if (checkMachine(*old, words.out).ok())
      table["paths"] = (*old)["paths"];
    else
      std::printf("the paths of %s are left out\n", machineOf(*old).c_str());
  }
  Status written = write(words.out, table);
  return written.ok() ? 0 : fail(written);
}

} // namespace

Command addTune(CLI::App &app, int argc, char **argv) {
  auto words = std::make_shared<Words>();
  words->command = shownCommand(argc, argv);
  CLI::App *tune = app.add_subcommand(
      "tune", "measures backends and writes the table of routes for backend auto");
  tune->footer("The table is used when COLL_ROUTES names it; coll-info shows it.\n\n"
               "Examples:\n"
               "  coll-perf tune --backend=net,nccl --ranks=4 -b 1K -e 64M -f 4 --out=routes.json\n"
               "  COLL_ROUTES=routes.json coll-perf all_reduce --backend=auto,nccl,net\n"
               "  coll-perf tune --paths --out=routes.json   the paths of GPU memory, too");
  addOpOptions(*tune, words->op);
  tune->add_option("--ops", words->ops, "operations, separated by commas")
      ->group("What is measured")
      ->capture_default_str();
  CLI::Option *paths =
      tune->add_flag(
              "--paths", words->paths,
              "instead measure the fastest path of messages of GPU memory, 16 KiB to 2 MiB, "
              "between two processes over COLL_NET_TRANSPORT, for backend net and the plugin "
              "for NCCL; keeps the routes in the table")
          ->group("What is measured");
  for (const char *other : {"--ops", "--backend", "--ranks", "--timing"})
    paths->excludes(tune->get_option(other));
  tune->add_option("--out", words->out, "file of the table")
      ->group("Output")
      ->required()
      ->check(whyNotWritable);
  return {tune, [words] { return words->paths ? runPaths(*words) : runTune(*words); }};
}

} // namespace coll::perf
