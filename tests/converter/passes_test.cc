// Each pass on the text of a graph: what it changes, and what it leaves alone.
#include "converter/passes/passes.h"

#include <gtest/gtest.h>

#include "converter/ir/text.h"
#include "converter/ir/verifier.h"

namespace takt {
namespace {

constexpr const char* kAct = R"( quant(0.5:0))";

struct Result {
  std::string before;  ///< As printed, without what nothing reads.
  std::string after;
};

/// Both texts after dead code is gone, so that the numbers of tensors compare.
Result Rewrite(void (*pass)(ir::Graph&, passes::PassContext&), const std::string& text,
               Numerics numerics = Numerics::kTflite) {
  std::string error;
  auto graph = ir::ParseGraph(text, error);
  EXPECT_TRUE(graph.has_value()) << error;
  if (!graph) return {};
  Diagnostics diagnostics;
  EXPECT_TRUE(ir::Verify(*graph, diagnostics));
  passes::PassContext context{numerics, diagnostics};
  ir::Graph changed = *graph;
  pass(changed, context);
  passes::EliminateDeadCode(*graph, context);
  passes::EliminateDeadCode(changed, context);
  EXPECT_TRUE(ir::Verify(changed, diagnostics));
  for (const Diagnostic& d : diagnostics.all()) {
    if (d.severity == Severity::kError) ADD_FAILURE() << d.ToString();
  }
  return {ir::PrintGraph(*graph), ir::PrintGraph(changed)};
}

void ExpectUnchanged(void (*pass)(ir::Graph&, passes::PassContext&), const std::string& text,
                     Numerics numerics = Numerics::kTflite) {
  const Result result = Rewrite(pass, text, numerics);
  EXPECT_EQ(result.after, result.before);
}

/// A graph from tensors t0, t1, ... (the text after the name) and nodes.
std::string Graph(const std::vector<std::string>& tensors, const std::string& rest) {
  std::string text = "graph \"g\"\n";
  for (size_t i = 0; i < tensors.size(); ++i) {
    text += "%" + std::to_string(i) + " \"t" + std::to_string(i) + "\": " + tensors[i] + "\n";
  }
  return text + rest;
}

const std::string kInt8 = std::string("int8[1,4]") + kAct;

TEST(ConstantFolding, EvaluatesWhatReadsOnlyConstants) {
  const Result result = Rewrite(
      passes::FoldConstants, Graph({"float32[1,2]", "int8[1,2] quant(0.5:1) = [3, -1]", "float32[1,2]", "float32[1,2]"},
                                   "inputs %0\noutputs %3\n"
                                   "%2 = dequantize(%1)\n"
                                   "%3 = add(%0, %2)\n"));
  EXPECT_EQ(result.after,
            "graph \"g\"\n%0 \"t0\": float32[1,2]\n%1 \"t2\": float32[1,2] = [1.0, -1.0]\n%2 \"t3\": float32[1,2]\n"
            "inputs %0\noutputs %2\n%2 = add(%0, %1)\n");
}

TEST(ConstantFolding, OutputsBecomeCopiesOfConstants) {
  const Result result = Rewrite(passes::FoldConstants,
                                Graph({"float32[1]", "int8[1,2] quant(0.5:1) = [3, -1]", "float32[1,2]", "float32[1]"},
                                      "inputs %0\noutputs %2, %3\n"
                                      "%2 = dequantize(%1)\n"
                                      "%3 = copy(%0)\n"));
  EXPECT_NE(result.after.find("\"t2/constant\": float32[1,2] = [1.0, -1.0]"), std::string::npos) << result.after;
  EXPECT_NE(result.after.find("%1 = copy(%3)"), std::string::npos) << result.after;
}

TEST(ConstantFolding, EvaluatesSlicesAndConcatenations) {
  const Result result =
      Rewrite(passes::FoldConstants,
              Graph({"int32[2]", "int32[2,2] = [1, 2, 3, 4]", "int32[2,1]", "int32[2,2]", "int32[4]", "int32[4]"},
                    "inputs %0\noutputs %5\n"
                    "%2 = slice(%1) {begin = [0, 1], strides = [1, 1]}\n"
                    "%3 = concatenation(%2, %2) {axis = 1}\n"
                    "%4 = reshape(%3)\n"
                    "%5 = copy(%4)\n"));
  EXPECT_NE(result.after.find("= [2, 2, 4, 4]"), std::string::npos) << result.after;
}

TEST(ConstantFolding, LeavesWhatReadsInputs) {
  ExpectUnchanged(passes::FoldConstants,
                  Graph({kInt8, kInt8 + " = [1, 2, 3, 4]", kInt8},
                        "inputs %0\noutputs %2\n%2 = add(%0, %1) {activation = \"none\", function = \"add\"}\n"));
}

TEST(ConstantFolding, LeavesWhatIsLargerThanAMadeConstant) {
  ExpectUnchanged(passes::FoldConstants,
                  Graph({"int8[1]", "int8[1] = [3]", "int8[1000000000]"},
                        "inputs %0\noutputs %2\n%2 = pad(%1) {after = [999999999], before = [0]}\n"));
}

std::string AddThenClamp(const std::string& activation, const std::string& min, const std::string& max,
                         const std::string& outputs = "%3", const std::string& clamped = kInt8) {
  return Graph({kInt8, kInt8, kInt8, clamped},
               "inputs %0, %1\noutputs " + outputs + "\n%2 = add(%0, %1) {activation = \"" + activation +
                   "\"} from [0]\n" + "%3 = clamp(%2) {max = " + max + ", min = " + min + "} from [1]\n");
}

const std::string kHighest = "3.4028234663852886e+38";
const std::string kLowest = "-3.4028234663852886e+38";

TEST(ActivationFusion, ClampJoinsItsProducer) {
  struct Case {
    std::string first, min, max, joined;
  };
  for (const Case& c : std::vector<Case>{{"none", "0.0", kHighest, "relu"},
                                         {"none", "0.0", "6.0", "relu6"},
                                         {"relu", "0.0", "6.0", "relu6"},
                                         {"relu6", "0.0", kHighest, "relu6"},
                                         {"none", "-1.0", "1.0", "relu_n1_to_1"},
                                         {"none", kLowest, kHighest, "none"}}) {
    const Result result = Rewrite(passes::FuseActivations, AddThenClamp(c.first, c.min, c.max));
    EXPECT_NE(result.after.find("%2 = add(%0, %1) {activation = \"" + c.joined + "\"} from [0, 1]"), std::string::npos)
        << result.after;
    EXPECT_EQ(result.after.find("clamp"), std::string::npos) << result.after;
  }
}

TEST(ActivationFusion, LeavesWhatItCannotJoin) {
  ExpectUnchanged(passes::FuseActivations, AddThenClamp("none", "0.0", "5.0"));            // No such activation.
  ExpectUnchanged(passes::FuseActivations, AddThenClamp("relu_n1_to_1", "0.0", "6.0"));    // [0, 1]
  ExpectUnchanged(passes::FuseActivations, AddThenClamp("none", "0.0", "6.0", "%2, %3"));  // An output.
  ExpectUnchanged(passes::FuseActivations, AddThenClamp("none", "0.0", "6.0", "%3", "int8[1,4] quant(0.25:0)"));
  ExpectUnchanged(passes::FuseActivations, Graph({kInt8, kInt8, kInt8, kInt8, kInt8},  // Another reader.
                                                 "inputs %0, %1\noutputs %3, %4\n%2 = add(%0, %1)\n"
                                                 "%3 = clamp(%2) {max = 6.0, min = 0.0}\n%4 = copy(%2)\n"));
  ExpectUnchanged(passes::FuseActivations,
                  Graph({kInt8, kInt8, kInt8},  // No activation.
                        "inputs %0\noutputs %2\n%1 = copy(%0)\n%2 = clamp(%1) {max = 6.0, min = 0.0}\n"));
}

std::string Requantizes(const std::vector<std::string>& tensors, const std::vector<std::string>& ops,
                        const std::string& outputs) {
  std::string nodes = "inputs %0\noutputs " + outputs + "\n";
  for (size_t i = 0; i < ops.size(); ++i)
    nodes += "%" + std::to_string(i + 1) + " = " + ops[i] + "(%" + std::to_string(i) + ")\n";
  return Graph(tensors, nodes);
}

size_t NodeCount(const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find("(%"); at != std::string::npos; at = text.find("(%", at + 1)) {
    count += text.compare(at - 4, 4, "view") != 0;
  }
  return count;
}

TEST(RequantizeMerging, IdentitiesGo) {
  const std::string same = "int8[1,4] quant(0.5:3)";
  const auto text = Requantizes({same, same, same, same}, {"copy", "requantize", "copy"}, "%3");
  EXPECT_EQ(NodeCount(Rewrite(passes::MergeRequantizes, text).after), 2u);
  const auto at_output = Requantizes({same, same, same}, {"copy", "requantize"}, "%2");
  EXPECT_EQ(NodeCount(Rewrite(passes::MergeRequantizes, at_output).after), 1u);
}

TEST(RequantizeMerging, AnInputThatIsTheOutputStays) {
  const std::string same = "int8[1,4] quant(0.5:3)";
  ExpectUnchanged(passes::MergeRequantizes, Requantizes({same, same}, {"requantize"}, "%1"));
}

TEST(RequantizeMerging, PairsWithEqualBytesBecomeOne) {
  for (Numerics numerics : {Numerics::kTflite, Numerics::kFp32Rne}) {
    // Through float and back to a scale that is a power of two away.
    const auto text = Requantizes({"int8[1,4] quant(0.5:0)", "float32[1,4]", "int8[1,4] quant(0.25:0)"},
                                  {"dequantize", "quantize"}, "%2");
    const Result result = Rewrite(passes::MergeRequantizes, text, numerics);
    EXPECT_NE(result.after.find("%1 = requantize(%0)"), std::string::npos) << result.after;
    // To finer steps and back: the identity, up to the clamp at the ends.
    const auto back =
        Requantizes({"int8[1,4] quant(0.5:0)", "float32[1,4]", "int8[1,4] quant(0.5:0)", "int8[1,4] quant(0.5:0)"},
                    {"dequantize", "quantize", "copy"}, "%3");
    EXPECT_EQ(NodeCount(Rewrite(passes::MergeRequantizes, back, numerics).after), 1u);
  }
}

TEST(RequantizeMerging, PairsThatRoundTwiceStay) {
  const auto text = Requantizes({"int8[1,4] quant(0.5:0)", "int8[1,4] quant(1.7:0)", "int8[1,4] quant(0.6:0)"},
                                {"requantize", "requantize"}, "%2");
  ExpectUnchanged(passes::MergeRequantizes, text);
  ExpectUnchanged(passes::MergeRequantizes, text, Numerics::kFp32Rne);
  ExpectUnchanged(passes::MergeRequantizes, Requantizes({"float32[1,4]", "int8[1,4] quant(0.5:0)", "float32[1,4]"},
                                                        {"quantize", "dequantize"}, "%2"));
}

std::string PadThenConv(const std::string& before, const std::string& value,
                        const std::string& padded_quantization = kAct, const std::string& outputs = "%5") {
  const std::string q = kAct;
  return Graph(
      {"int8[1,2,2,1]" + q, "int8[1,3,3,1]" + padded_quantization, "int8[1,2,2,1] quant(0.5:0) = [1, 2, 3, 4]",
       "int32[1] = [0]", "int8[1,2,2,1]" + q, "int8[1,2,2,1]" + q},
      "inputs %0\noutputs " + outputs + "\n%1 = pad(%0) {after = [0, 0, 0, 0], before = " + before +
          ", value = " + value +
          "} from [0]\n%4 = conv2d(%1, %2, %3) {pads = [0, 0, 0, 0], strides = [1, 1]} from [1]\n%5 = copy(%4)\n");
}

TEST(PadFolding, PadsJoinTheConvolution) {
  const Result result = Rewrite(passes::FoldPads, PadThenConv("[0, 1, 1, 0]", "0.0"));
  EXPECT_NE(result.after.find("conv2d(%0, %1, %2) {pads = [1, 1, 0, 0], strides = [1, 1]} from [0, 1]"),
            std::string::npos)
      << result.after;
  EXPECT_EQ(result.after.find("pad("), std::string::npos);
}

TEST(PadFolding, APadWithOtherReadersStaysForThem) {
  const Result result = Rewrite(passes::FoldPads, PadThenConv("[0, 1, 1, 0]", "0.0", kAct, "%5, %1"));
  EXPECT_NE(result.after.find("conv2d(%0"), std::string::npos) << result.after;
  EXPECT_NE(result.after.find("pad(%0)"), std::string::npos) << result.after;
}

TEST(PadFolding, LeavesOtherPads) {
  ExpectUnchanged(passes::FoldPads, PadThenConv("[0, 1, 1, 0]", "0.5"));                   // Not the zero point.
  ExpectUnchanged(passes::FoldPads, PadThenConv("[0, 1, 1, 0]", "0.0", " quant(0.5:1)"));  // Another quantization.
}

/// pad, [transpose,] max_pool2d of 3x3 over 2x2 cells, padded to 4x4; `producer` makes the pad's input.
std::string PadThenMaxPool(const std::string& quantization, const std::string& producer, const std::string& value) {
  const std::string small = "int8[1,2,2,1]" + quantization;
  return Graph({small, small, "int8[1,4,4,1]" + quantization, small},
               "inputs %0\noutputs %3\n%1 = " + producer + " from [0]\n%2 = pad(%1) {after = [0, 1, 1, 0], " +
                   "before = [0, 1, 1, 0], value = " + value + "} from [1]\n" +
                   "%3 = max_pool2d(%2) {kernel = [3, 3], pads = [0, 0, 0, 0], strides = [1, 1]} from [2]\n");
}

TEST(PadFolding, PadsThatNoCellIsBelowJoinAMaximum) {
  const std::string pool = "max_pool2d(%1) {kernel = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]} from [1, 2]";
  const std::string lowest = " quant(0.5:-128)", any = kAct;
  for (const auto& text : {PadThenMaxPool(lowest, "copy(%0)", "0.0"), PadThenMaxPool(any, "copy(%0)", "-64.0"),
                           PadThenMaxPool(any, "add(%0, %0) {activation = \"relu\", function = \"add\"}", "0.0")}) {
    const Result result = Rewrite(passes::FoldPads, text);
    EXPECT_NE(result.after.find(pool), std::string::npos) << result.after;
  }
  ExpectUnchanged(passes::FoldPads, PadThenMaxPool(any, "copy(%0)", "0.0"));     // -0.5 is below.
  ExpectUnchanged(passes::FoldPads, PadThenMaxPool(lowest, "copy(%0)", "0.5"));  // 0 is below.
}

TEST(PadFolding, AMaximumSeesACellInEachWindow) {
  const std::string q = " quant(0.5:-128)";
  ExpectUnchanged(passes::FoldPads,
                  Graph({"int8[1,2,2,1]" + q, "int8[1,4,2,1]" + q, "int8[1,3,1,1]" + q},
                        "inputs %0\noutputs %2\n%1 = pad(%0) {after = [0, 0, 0, 0], before = [0, 2, 0, 0]}\n"
                        "%2 = max_pool2d(%1) {kernel = [2, 2], pads = [0, 0, 0, 0], strides = [1, 1]}\n"));
}

TEST(PadFolding, PassesTransposes) {
  const std::string q = kAct;
  const auto text = [&](const std::string& outputs) {
    return Graph({"int8[1,1,2,3]" + q, "int8[1,1,4,4]" + q, "int8[1,4,4,1]" + q,
                  "int8[1,3,3,1] quant(0.5:0) = [1, 2, 3, 4, 5, 6, 7, 8, 9]", "int32[1] = [0]", "int8[1,2,2,1]" + q},
                 "inputs %0\noutputs " + outputs +
                     "\n%1 = pad(%0) {after = [0, 0, 1, 0], before = [0, 0, 1, 1], value = 0.0} from [1]\n"
                     "%2 = transpose(%1) {permutation = [0, 2, 3, 1]} from [0]\n"
                     "%5 = conv2d(%2, %3, %4) {pads = [0, 0, 0, 0], strides = [1, 1]} from [2]\n");
  };
  const Result result = Rewrite(passes::FoldPads, text("%5"));
  EXPECT_NE(result.after.find("%1 = transpose(%0) {permutation = [0, 2, 3, 1]} from [0]"), std::string::npos)
      << result.after;
  EXPECT_NE(result.after.find("conv2d(%1, %2, %3) {pads = [1, 1, 1, 0], strides = [1, 1]} from [1, 2]"),
            std::string::npos)
      << result.after;
  EXPECT_EQ(result.after.find("pad("), std::string::npos);
  ExpectUnchanged(passes::FoldPads, text("%5, %1"));  // The padded tensor is wanted as it is.
}

std::string ConvThenAdd(const std::string& outputs, const std::string& function, const std::string& second = "%0") {
  const std::string q = kAct;
  return Graph({"int8[1,2,2,1]" + q, "int8[1,1,1,1] quant(0.5:0) = [3]", "int32[1] = [0]", "int8[1,2,2,1]" + q,
                "int8[1,2,2,1]" + q},
               "inputs %0\noutputs " + outputs +
                   "\n%3 = conv2d(%0, %1, %2) {activation = \"relu\", pads = [0, 0, 0, 0], strides = [1, 1]} from "
                   "[0]\n%4 = add(" +
                   second + ", %3) {activation = \"relu\", function = \"" + function + "\"} from [1]\n");
}

TEST(ResidualFusion, AddJoinsTheConvolution) {
  const Result result = Rewrite(passes::FuseResiduals, ConvThenAdd("%4", "add"));
  EXPECT_NE(result.after.find("%3 = conv2d_add(%0, %1, %2, %0)"), std::string::npos) << result.after;
  EXPECT_NE(result.after.find("from [0, 1]"), std::string::npos) << result.after;
}

TEST(ResidualFusion, LeavesOtherAdds) {
  ExpectUnchanged(passes::FuseResiduals, ConvThenAdd("%4, %3", "add"));  // The convolution's result is an output.
  ExpectUnchanged(passes::FuseResiduals, ConvThenAdd("%4", "subtract"));
  ExpectUnchanged(passes::FuseResiduals, ConvThenAdd("%4", "add", "%3"));  // Twice the same operand.
}

TEST(ViewElimination, ReshapesBecomeViewsOrCopies) {
  const std::string flat = "int8[4] quant(0.5:0)";
  const auto inside =
      Graph({kInt8, kInt8, flat, flat}, "inputs %0\noutputs %3\n%1 = copy(%0)\n%2 = reshape(%1)\n%3 = copy(%2)\n");
  Result result = Rewrite(passes::EliminateViews, inside);
  EXPECT_NE(result.after.find("\"t2\": int8[4] quant(0.5:0) view(%1 + 0)"), std::string::npos) << result.after;
  EXPECT_EQ(NodeCount(result.after), 2u);
  const auto at_output = Graph({kInt8, kInt8, flat}, "inputs %0\noutputs %2\n%1 = copy(%0)\n%2 = reshape(%1)\n");
  result = Rewrite(passes::EliminateViews, at_output);
  EXPECT_EQ(NodeCount(result.after), 2u);
  EXPECT_EQ(result.after.find("reshape"), std::string::npos);
}

TEST(ViewElimination, ConcatenationsAndSlicesBecomeCopiesOfViews) {
  const std::string wide = "int8[1,8] quant(0.5:0)";
  const auto text = Graph({kInt8, kInt8, wide, "int8[1,2] quant(0.5:0)"},
                          "inputs %0, %1\noutputs %3\n%2 = concatenation(%0, %1) {axis = 1}\n"
                          "%3 = slice(%2) {begin = [0, 3], strides = [1, 2]}\n");
  const Result result = Rewrite(passes::EliminateViews, text);
  EXPECT_NE(result.after.find("view(%2 + 4, strides [8, 1])"), std::string::npos) << result.after;
  EXPECT_NE(result.after.find("view(%2 + 3, strides [8, 2])"), std::string::npos) << result.after;
  EXPECT_EQ(NodeCount(result.after), 3u);
}

TEST(DeadCode, DropsWhatNothingReads) {
  const auto text = Graph({kInt8, kInt8, kInt8, kInt8 + " = [1, 2, 3, 4]", kInt8},
                          "inputs %0\noutputs %4\n%1 = copy(%0)\n%2 = copy(%1)\n%4 = copy(%0)\n");
  std::string error;
  auto graph = ir::ParseGraph(text, error);
  ASSERT_TRUE(graph.has_value()) << error;
  Diagnostics diagnostics;
  passes::PassContext context{Numerics::kTflite, diagnostics};
  passes::EliminateDeadCode(*graph, context);
  EXPECT_EQ(ir::PrintGraph(*graph),
            "graph \"g\"\n%0 \"t0\": int8[1,4] quant(0.5:0)\n%1 \"t4\": int8[1,4] quant(0.5:0)\n"
            "inputs %0\noutputs %1\n%1 = copy(%0)\n");
}

TEST(Passes, TableIsComplete) {
  for (const passes::Pass& pass : passes::AllPasses()) {
    EXPECT_NE(std::string(pass.name), "");
    EXPECT_NE(std::string(pass.description), "");
    EXPECT_NE(pass.run, nullptr);
  }
}

}  // namespace
}  // namespace takt
