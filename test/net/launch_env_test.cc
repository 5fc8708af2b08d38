#include "runtime/net/bootstrap/launch_env.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

namespace coll::net {
namespace {

const char *const kNames[] = {"COLL_RANK",
                              "COLL_WORLD_SIZE",
                              "COLL_LOCAL_RANK",
                              "COLL_BOOTSTRAP",
                              "RANK",
                              "WORLD_SIZE",
                              "LOCAL_RANK",
                              "MASTER_ADDR",
                              "MASTER_PORT",
                              "OMPI_COMM_WORLD_RANK",
                              "OMPI_COMM_WORLD_SIZE",
                              "OMPI_COMM_WORLD_LOCAL_RANK",
                              "OMPI_COMM_WORLD_LOCAL_SIZE",
                              "PMIX_NAMESPACE",
                              "SLURM_PROCID",
                              "SLURM_STEP_NUM_TASKS",
                              "SLURM_LOCALID",
                              "SLURM_STEP_NODELIST",
                              "SLURM_STEP_ID",
                              "SLURM_JOB_ID",
                              "PMI_RANK",
                              "PMI_SIZE",
                              "MPI_LOCALRANKID"};

Result<LaunchEnv> readWith(const std::map<std::string, std::string> &variables) {
  for (const char *name : kNames)
    unsetenv(name);
  for (const auto &[name, value] : variables)
    setenv(name.c_str(), value.c_str(), 1);
  Result<LaunchEnv> env = readLaunchEnv();
  for (const char *name : kNames)
    unsetenv(name);
  for (const auto &[name, value] : variables)
    unsetenv(name.c_str());
  return env;
}

void expectEnv(const Result<LaunchEnv> &env, const char *launcher, int rank, int worldSize,
               int localRank, const char *bootstrap) {
  ASSERT_TRUE(env.ok()) << env.status().message();
  EXPECT_EQ(env->launcher, launcher);
  EXPECT_EQ(env->rank, rank);
  EXPECT_EQ(env->worldSize, worldSize);
  EXPECT_EQ(env->localRank, localRank);
  EXPECT_EQ(env->bootstrap, bootstrap);
}

TEST(LaunchEnvTest, ReadsEachLauncher) {
  expectEnv(readWith({{"COLL_RANK", "1"}, {"COLL_WORLD_SIZE", "4"}, {"COLL_BOOTSTRAP", "h:1"}}),
            "coll", 1, 4, -1, "h:1");
  expectEnv(readWith({{"RANK", "3"},
                      {"WORLD_SIZE", "8"},
                      {"LOCAL_RANK", "0"},
                      {"MASTER_ADDR", "fd00::2"},
                      {"MASTER_PORT", "29500"}}),
            "torchrun", 3, 8, 0, "[fd00::2]:29501");
  expectEnv(readWith({{"OMPI_COMM_WORLD_RANK", "0"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                      {"COLL_BOOTSTRAP", "10.0.0.1:7000"}}),
            "mpirun", 0, 2, 0, "10.0.0.1:7000");
  expectEnv(readWith({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"COLL_BOOTSTRAP", "h:1"}}), "pmi", 1,
            2, -1, "h:1");
}

TEST(LaunchEnvTest, FindsTheFirstHostOfSrun) {
  const std::pair<const char *, const char *> lists[] = {
      {"node[07-12,20],login", "node07:22345"},
      {"alpha", "alpha:22345"},
      {"alpha,beta[1-2]", "alpha:22345"},
      {"rack[3]-n,other", "rack3-n:22345"},
  };
  for (const auto &[list, expected] : lists)
    expectEnv(readWith({{"SLURM_PROCID", "5"},
                        {"SLURM_STEP_NUM_TASKS", "6"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_STEP_NODELIST", list},
                        {"SLURM_JOB_ID", "12345"}}),
              "srun", 5, 6, 1, expected);
}

// The variables that launchers set, as far as they could be mistaken for a rank, a size or an
// address, with their values.

TEST(LaunchEnvTest, OpenMpiOfOneMachineHasAnAddress) {
  std::map<std::string, std::string> seen = {
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
      {"OMPI_COMM_WORLD_NODE_RANK", "1"},  {"OMPI_COMM_WORLD_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "2"},       {"OMPI_UNIVERSE_SIZE", "2"},
      {"PMIX_NAMESPACE", "260964353"},     {"PMIX_RANK", "1"}};
  expectEnv(readWith(seen), "mpirun", 1, 2, 1, "127.0.0.1:27617");
  // Started by a batch script of Slurm's.
  seen.insert({{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_JOB_ID", "12"}});
  expectEnv(readWith(seen), "mpirun", 1, 2, 1, "127.0.0.1:27617");
  seen["PMIX_NAMESPACE"] = "prterun-vm-10773@1";
  expectEnv(readWith(seen), "mpirun", 1, 2, 1, "127.0.0.1:27931");
  seen["OMPI_COMM_WORLD_SIZE"] = "4";
  EXPECT_NE(readWith(seen).status().message().find("mpirun -x COLL_BOOTSTRAP=HOST:PORT"),
            std::string::npos);
}

TEST(LaunchEnvTest, StepsOfOneSlurmJobMeetApart) {
  std::map<std::string, std::string> seen = {
      {"SLURM_JOB_ID", "3"},         {"SLURM_LOCALID", "1"},       {"SLURM_NPROCS", "2"},
      {"SLURM_NTASKS", "2"},         {"SLURM_PROCID", "1"},        {"SLURM_STEP_ID", "0"},
      {"SLURM_STEP_NODELIST", "vm"}, {"SLURM_STEP_NUM_TASKS", "2"}};
  expectEnv(readWith(seen), "srun", 1, 2, 1, "vm:20003");
  seen.insert({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}); // srun --mpi=pmi2
  expectEnv(readWith(seen), "srun", 1, 2, 1, "vm:20003");
  seen["SLURM_STEP_ID"] = "1";
  expectEnv(readWith(seen), "srun", 1, 2, 1, "vm:21012");
}

TEST(LaunchEnvTest, TheShellOfAnAllocationIsNoRank) {
  std::map<std::string, std::string> batch = {
      {"SLURM_JOB_ID", "12"}, {"SLURM_LOCALID", "0"}, {"SLURM_PROCID", "0"}};
  EXPECT_NE(readWith(batch).status().message().find("no launcher"), std::string::npos);
  std::map<std::string, std::string> interactive = {
      {"SLURM_JOB_ID", "11"},        {"SLURM_LOCALID", "0"},
      {"SLURM_PROCID", "0"},         {"SLURM_STEP_ID", "4294967290"},
      {"SLURM_STEP_NODELIST", "vm"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  EXPECT_NE(readWith(interactive).status().message().find("no launcher"), std::string::npos);
}

TEST(LaunchEnvTest, ReadsTorchrunAndHydra) {
  expectEnv(readWith({{"GROUP_RANK", "0"},
                      {"GROUP_WORLD_SIZE", "1"},
                      {"LOCAL_RANK", "1"},
                      {"LOCAL_WORLD_SIZE", "2"},
                      {"MASTER_ADDR", "127.0.0.1"},
                      {"MASTER_PORT", "29500"},
                      {"RANK", "1"},
                      {"ROLE_RANK", "1"},
                      {"ROLE_WORLD_SIZE", "2"},
                      {"WORLD_SIZE", "2"}}),
            "torchrun", 1, 2, 1, "127.0.0.1:29501");
  expectEnv(readWith({{"MPI_LOCALNRANKS", "2"},
                      {"MPI_LOCALRANKID", "1"},
                      {"PMI_RANK", "1"},
                      {"PMI_SIZE", "2"},
                      {"COLL_BOOTSTRAP", "h:1"}}),
            "pmi", 1, 2, 1, "h:1");
}

TEST(LaunchEnvTest, SaysWhatIsMissingOrWrong) {
  auto message = [](const std::map<std::string, std::string> &variables) {
    Result<LaunchEnv> env = readWith(variables);
    return env.ok() ? std::string("ok") : env.status().message();
  };
  EXPECT_NE(message({}).find("no launcher"), std::string::npos);
  EXPECT_NE(message({{"RANK", "0"}}).find("WORLD_SIZE is not set"), std::string::npos);
  EXPECT_EQ(message({{"COLL_RANK", "-1"}}),
            "COLL_RANK=-1: expected a whole number from 0 to 2147483647");
  EXPECT_EQ(
      message({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "65535"}}),
      "MASTER_PORT=65535: expected a whole number from 0 to 65534");
  EXPECT_NE(message({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).find("RANK=x: expected"),
            std::string::npos);
  EXPECT_NE(message({{"RANK", "2"}, {"WORLD_SIZE", "2"}}).find("RANK is 2"), std::string::npos);
  EXPECT_NE(message({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}).find("COLL_BOOTSTRAP"),
            std::string::npos);
  EXPECT_NE(
      message({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "99999"}})
          .find("MASTER_PORT"),
      std::string::npos);
}

} // namespace
} // namespace coll::net
