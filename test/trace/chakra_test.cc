// Chakra's files: written files have what the schema requires, unknown fields are kept, and
// malformed files give errors.

#include "tools/coll-trace/chakra.h"

#include "test/profiler/mutate.h"
#include "test/trace/simulation.h"
#include "test/trace/temporary.h"
#include "tools/coll-trace/commands.h"
#include "tools/coll-trace/convert.h"

#include <fstream>
#include <gtest/gtest.h>

namespace coll::trace {
namespace {

using chakra::Node;
using profiler::perfetto::Packets;

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

void writeFile(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string message(const std::string &bytes) {
  EXPECT_LT(bytes.size(), 128u);
  return static_cast<char>(bytes.size()) + bytes;
}

std::vector<Node> readNodes(const std::string &path) {
  std::vector<Node> nodes;
  Packets packets = Packets::open(path, Packets::Framing::Lengths).take();
  std::string_view bytes;
  for (bool isFirst = true; *packets.next(bytes); isFirst = false)
    if (!isFirst)
      nodes.push_back(chakra::parseNode(bytes).take());
  return nodes;
}

// A file with fields, attributes and types of nodes that no version has.
std::string strangeFile() {
  Node node;
  node.id = 7;
  node.name = "all_reduce";
  node.type = chakra::kCollective;
  node.dataDependencies = {1, 300};
  node.startMicros = 20;
  node.durationMicros = 5;
  node.addInt64("comm_type", 0);
  node.addText("colour", "blue");
  std::string known = chakra::encode(node);
  known += std::string("\xfa\x3f\x03xyz", 6); // field 1023
  Node other;
  other.id = 8;
  other.type = 77;
  return message(chakra::encodeMetadata() + std::string("\x12\x02\x0a\x00", 4)) + message(known) +
         message(chakra::encode(other));
}

TEST(ChakraTest, WhatIsNotKnownSurvivesReadingAndWriting) {
  const std::string folder = test::folder() + "/", file = folder + "strange.3.et";
  writeFile(file, strangeFile());
  ASSERT_EQ(fromChakraCommand({"-o", folder + "strange.pftrace", file}), 0);
  ASSERT_EQ(toChakraCommand({"-o", folder + "back", folder + "strange.pftrace"}), 0);
  EXPECT_EQ(readFile(folder + "back.3.et"), strangeFile());
}

TEST(ChakraTest, EncodedNodeIsParsedAsItWas) {
  Node node;
  node.id = 1ull << 40;
  node.name = "x";
  node.type = chakra::kSend;
  node.controlDependencies = {5, 1ull << 63};
  node.addInt32("comm_tag", -3);
  node.addBool("is_cpu_op", true);
  node.addUint64("tensor_size", 99);
  node.addText("pg_name", "dp");
  const Node back = chakra::parseNode(chakra::encode(node)).take();
  EXPECT_EQ(back.id, node.id);
  EXPECT_EQ(back.controlDependencies, node.controlDependencies);
  EXPECT_EQ(back.number("comm_tag", 0), -3);
  EXPECT_EQ(back.number("is_cpu_op", 0), 1);
  EXPECT_EQ(back.number("tensor_size", 0), 99);
  EXPECT_EQ(back.number("pg_name", -7), -7);
  EXPECT_EQ(back.text("pg_name"), "dp");
  EXPECT_EQ(chakra::encode(back), chakra::encode(node));
}

TEST(ChakraTest, TracesBecomeOneFilePerRankWithDependencies) {
  test::Simulation simulation;
  simulation.ranks = 4;
  const std::vector<std::string> paths = test::simulate(simulation, test::folder());
  rt::Result<Converted> converted = toChakra(paths, test::folder() + "/run");
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  EXPECT_EQ(converted->ranks, 4u);
  for (int rank = 0; rank < 4; ++rank) {
    const std::vector<Node> nodes =
        readNodes(test::folder() + "/run." + std::to_string(rank) + ".et");
    ASSERT_EQ(nodes.size(), 80u);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node &node = nodes[i];
      EXPECT_EQ(node.id, i + 1);
      EXPECT_EQ(node.type, i % 2 ? chakra::kCollective : chakra::kCompute);
      // Each node computes after the previous collective, and reduces after having computed.
      EXPECT_EQ(node.dataDependencies, i ? std::vector<uint64_t>{i} : std::vector<uint64_t>());
      if (i % 2) {
        EXPECT_EQ(node.number("comm_type", -1), 0);
        EXPECT_EQ(node.number("is_cpu_op", -1), 0);
        EXPECT_EQ(node.text("pg_name"), "7");
      }
    }
  }
}

TEST(ChakraTest, NodesWithoutTimesFollowTheirDependencies) {
  Node first, second;
  first.id = 1;
  first.type = second.type = chakra::kCompute;
  second.id = 2;
  second.dataDependencies = {1};
  const std::string file = test::folder() + "/times.0.et";
  writeFile(file, message(chakra::encodeMetadata()) + message(chakra::encode(first)) +
                      message(chakra::encode(second)));
  ASSERT_TRUE(fromChakra({file}, test::folder() + "/times.pftrace").ok());
  std::vector<Slice> slices;
  FileFacts facts;
  ASSERT_TRUE(readSlices(
                  test::folder() + "/times.pftrace", levelBit(Level::Compute),
                  [&](const Slice &slice) { slices.push_back(slice); }, facts)
                  .ok());
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].endNs, 1000u);
  EXPECT_EQ(slices[1].startNs, 1000u);
}

TEST(ChakraTest, MalformedFilesNameTheByte) {
  const std::string file = test::folder() + "/bad.0.et", out = test::folder() + "/bad.pftrace";
  const std::string whole = strangeFile();
  writeFile(file, whole.substr(0, whole.size() - 2));
  rt::Result<Converted> cut = fromChakra({file}, out);
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.status().message().find("ends within a node"), std::string::npos);
  const std::string metadata = message(chakra::encodeMetadata());
  writeFile(file, metadata + message("\x07"));
  rt::Result<Converted> bad = fromChakra({file}, out);
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.status().message().find("at byte " + std::to_string(metadata.size())),
            std::string::npos)
      << bad.status().message();
  EXPECT_FALSE(fromChakra({"/nonexistent.0.et"}, out).ok());
  EXPECT_EQ(toChakraCommand({"a.pftrace"}), 2) << "no output";
  EXPECT_FALSE(toChakra({file}, "/nonexistent/folder/run").ok());
}

TEST(ChakraTest, SurvivesMutants) {
  std::mt19937_64 random(test::seed);
  const std::string whole = strangeFile();
  for (int i = 0; i < test::mutants; ++i) {
    const std::string bytes = profiler::test::mutate(whole, random);
    Packets packets = Packets::of(bytes, Packets::Framing::Lengths);
    std::string_view message;
    for (;;) {
      rt::Result<bool> more = packets.next(message);
      if (!more.ok() || !*more)
        break;
      if (rt::Result<Node> node = chakra::parseNode(message); node.ok()) {
        (void)node->number("comm_type", 0);
        (void)chakra::encode(*node);
      }
    }
  }
}

TEST(ChakraTest, Base64GivesBytesBack) {
  std::string bytes;
  for (int i = 0; i < 260; ++i) {
    EXPECT_EQ(chakra::fromBase64(chakra::toBase64(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
  EXPECT_EQ(chakra::toBase64("Man"), "TWFu");
  EXPECT_EQ(chakra::toBase64("M"), "TQ==");
  EXPECT_EQ(chakra::fromBase64("no base64!"), "");
}

} // namespace
} // namespace coll::trace
