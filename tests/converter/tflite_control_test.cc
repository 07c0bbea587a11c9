// Files of several subgraphs: IF, WHILE, signatures, variables.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"
#include "tests/support/unit_costs.h"

namespace takt::test {
namespace {

using Code = tflite::BuiltinOperator;
using Kind = tflite::BuiltinOptions;
using tflite::TensorType;
using Floats = std::vector<float>;
using test::Errors;

TfliteTensor Tensor(const char* name, TensorType type, std::vector<int32_t> shape) {
  TfliteTensor t;
  t.name = name;
  t.type = type;
  t.shape = std::move(shape);
  return t;
}
TfliteTensor Float(const char* name) {
  return Tensor(name, TensorType::FLOAT32, {2});
}
TfliteTensor Flag(const char* name) {
  return Tensor(name, TensorType::BOOL, {});
}
TfliteTensor Handle(const char* name) {
  return Tensor(name, TensorType::RESOURCE, {});
}
template <typename T>
TfliteTensor Constant(TfliteTensor t, std::vector<T> values) {
  t.data.resize(values.size() * sizeof(T));
  std::memcpy(t.data.data(), values.data(), t.data.size());
  return t;
}
TfliteTensor Int(const char* name) {
  return Tensor(name, TensorType::INT32, {1});
}

TfliteOperator Add(int32_t a, int32_t b, int32_t y) {
  return {Code::ADD, {a, b}, {y}, Kind::AddOptions, [](auto& fbb) { return tflite::CreateAddOptions(fbb).Union(); }};
}
TfliteOperator Mul(int32_t a, int32_t b, int32_t y) {
  return {Code::MUL, {a, b}, {y}, Kind::MulOptions, [](auto& fbb) { return tflite::CreateMulOptions(fbb).Union(); }};
}
TfliteOperator If(std::vector<int32_t> in, std::vector<int32_t> out, int32_t then_graph, int32_t else_graph) {
  return {Code::IF, std::move(in), std::move(out), Kind::IfOptions,
          [=](auto& fbb) { return tflite::CreateIfOptions(fbb, then_graph, else_graph).Union(); }};
}
TfliteOperator While(std::vector<int32_t> in, std::vector<int32_t> out, int32_t condition, int32_t body) {
  return {Code::WHILE, std::move(in), std::move(out), Kind::WhileOptions,
          [=](auto& fbb) { return tflite::CreateWhileOptions(fbb, condition, body).Union(); }};
}
TfliteOperator VarHandle(const char* name, int32_t out) {
  return {Code::VAR_HANDLE, {}, {out}, Kind::VarHandleOptions, [name](auto& fbb) {
            return tflite::CreateVarHandleOptionsDirect(fbb, "", name).Union();
          }};
}
TfliteOperator CallOnce(int32_t graph) {
  return {Code::CALL_ONCE, {}, {}, Kind::CallOnceOptions, [=](auto& fbb) {
            return tflite::CreateCallOnceOptions(fbb, graph).Union();
          }};
}

void ExpectError(const TfliteModel& model, const std::string& error, const ConvertOptions& options = {}) {
  const Conversion made = ConvertTflite(WriteTflite(model), "m", options);
  EXPECT_NE(Errors(made).find(error), std::string::npos) << Errors(made);
  EXPECT_TRUE(made.plan.empty());
}

template <typename T>
Bytes Packed(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class Program {
 public:
  explicit Program(const TfliteModel& model, const ConvertOptions& options = {})
      : made_(ConvertTflite(WriteTflite(model), "m", options)) {
    EXPECT_EQ(Errors(made_), "");
    if (!made_.plan.empty()) runner.emplace(made_.plan);
  }
  Floats Run(const std::vector<Bytes>& inputs) {
    const Bytes bytes = runner->Run(inputs).at(0);
    Floats values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  int Count(Op op) const {
    int count = 0;
    for (uint32_t s = 0; s < runner->plan().step_count(); ++s) count += runner->plan().step(s).op == op;
    return count;
  }
  std::optional<PlanRunner> runner;

 private:
  Conversion made_;
};

/// flag ? x + k : x * k, with k a constant of the caller.
TfliteModel Choice() {
  TfliteModel model;
  model.tensors = {Flag("flag"), Float("x"), Constant(Float("k"), Floats{2, 3}), Float("y")};
  model.operators = {If({0, 1, 2}, {3}, 1, 2)};
  model.inputs = {0, 1};
  model.outputs = {3};
  TfliteSubgraph sum;
  sum.tensors = {Float("x"), Float("k"), Float("y")};
  sum.inputs = {0, 1};
  sum.outputs = {2};
  TfliteSubgraph product = sum;
  sum.operators = {Add(0, 1, 2)};
  product.operators = {Mul(0, 1, 2)};
  model.others = {sum, product};
  return model;
}

TEST(TfliteIf, TakesTheSubgraphOfTheFlag) {
  Program program(Choice());
  EXPECT_EQ(program.Run({{1}, Packed(Floats{5, 7})}), (Floats{7, 10}));
  EXPECT_EQ(program.Run({{0}, Packed(Floats{5, 7})}), (Floats{10, 21}));
}

TEST(TfliteIf, OnAConstantIsOneSubgraph) {
  TfliteModel model = Choice();
  model.tensors[0].data = {0};
  model.inputs = {1};
  Program program(model);
  EXPECT_EQ(program.Count(Op::kSkipIf), 0);
  EXPECT_EQ(program.Run({Packed(Floats{5, 7})}), (Floats{10, 21}));
}

TEST(TfliteIf, NamesSubgraphsThatCannotBeRead) {
  TfliteModel model = Choice();
  model.operators = {If({0, 1, 2}, {3}, 1, 7)};
  ExpectError(model, "m:0(IF): error: names subgraph 7, which does not exist");
  model.operators = {If({0, 1, 2}, {3}, 1, 0)};
  ExpectError(model, "m:0(IF): error: calls subgraph 0 within itself");
  model = Choice();
  model.tensors[1].shape = {1, 2};
  ExpectError(model, "m:0(IF): error: its operands and a body's inputs differ at 0");
  model = Choice();
  model.others[1].operators[0].code = Code::HASHTABLE;
  ExpectError(model, "m[2]:0(HASHTABLE): error: is not supported");
}

/// while i < n: i += 1, x = x * w; w is passed through.
TfliteModel Power(bool constant) {
  TfliteModel model;
  model.tensors = {Constant(Int("i"), std::vector<int32_t>{0}),
                   Int("n"),
                   Float("x"),
                   Constant(Float("w"), Floats{2, 3}),
                   Int("i_end"),
                   Int("n_end"),
                   Float("y"),
                   Float("w_end")};
  if (constant) model.tensors[1] = Constant(Int("n"), std::vector<int32_t>{3});
  model.operators = {While({0, 1, 2, 3}, {4, 5, 6, 7}, 1, 2)};
  model.inputs = {2};
  if (!constant) model.inputs.push_back(1);
  model.outputs = {6};
  TfliteSubgraph condition;
  condition.tensors = {Int("i"), Int("n"), Float("x"), Float("w"), Tensor("go", TensorType::BOOL, {1})};
  condition.operators = {{Code::LESS, {0, 1}, {4}}};
  condition.inputs = {0, 1, 2, 3};
  condition.outputs = {4};
  TfliteSubgraph body;
  body.tensors = {Int("i"),    Int("n"),        Float("x"), Float("w"), Constant(Int("one"), std::vector<int32_t>{1}),
                  Int("next"), Float("product")};
  body.operators = {Add(0, 4, 5), Mul(2, 3, 6)};
  body.inputs = {0, 1, 2, 3};
  body.outputs = {5, 1, 6, 3};
  model.others = {condition, body};
  return model;
}

TEST(TfliteWhile, OfAConstantCountIsUnrolled) {
  Program program(Power(true));
  EXPECT_EQ(program.Count(Op::kLoop), 0);
  EXPECT_EQ(program.Run({Packed(Floats{1, 10})}), (Floats{8, 270}));
}

TEST(TfliteWhile, RunsAsOftenAsDataSays) {
  ConvertOptions options;
  options.max_trips = 4;
  Program program(Power(false), options);
  EXPECT_EQ(program.Count(Op::kLoop), 1);
  for (const auto& [n, want] : {std::pair{0, Floats{1, 10}}, {1, Floats{2, 30}}, {4, Floats{16, 810}}})
    EXPECT_EQ(program.Run({Packed(Floats{1, 10}), Packed(std::vector<int32_t>{n})}), want);
  EXPECT_EQ(program.Run({Packed(Floats{1, 10}), Packed(std::vector<int32_t>{-5})}), (Floats{1, 10}));
}

constexpr float kStep = 0.5f;
constexpr int kZero = 3;

/// The model with int8 in place of float32, in all subgraphs.
TfliteModel Quantized(TfliteModel model) {
  const auto quantize = [](TfliteSubgraph& graph) {
    for (TfliteTensor& t : graph.tensors) {
      if (t.type != TensorType::FLOAT32) continue;
      t.type = TensorType::INT8;
      t.scales = {kStep}, t.zero_points = {kZero};
      Floats values(t.data.size() / sizeof(float));
      if (!values.empty()) std::memcpy(values.data(), t.data.data(), t.data.size());
      t.data.clear();
      for (const float v : values) t.data.push_back(static_cast<uint8_t>(static_cast<int>(v / kStep) + kZero));
    }
  };
  quantize(model);
  for (TfliteSubgraph& other : model.others) quantize(other);
  return model;
}
Bytes Stored(const Floats& values) {
  Bytes bytes;
  for (const float v : values) bytes.push_back(static_cast<uint8_t>(static_cast<int>(v / kStep) + kZero));
  return bytes;
}

TEST(TfliteControl, OfQuantizedGraphs) {
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite}) {
    ConvertOptions options;
    options.numerics = numerics;
    options.max_trips = 4;
    Program choice(Quantized(Choice()), options);
    EXPECT_EQ(choice.runner->Run({{1}, Stored({5, 7})})[0], Stored({7, 10}));
    EXPECT_EQ(choice.runner->Run({{0}, Stored({5, 7})})[0], Stored({10, 21}));
    EXPECT_EQ(Program(Quantized(Power(true)), options).runner->Run({Stored({1, 2})})[0], Stored({8, 54}));
    Program power(Quantized(Power(false)), options);
    EXPECT_EQ(power.runner->Run({Stored({1, 10}), Packed(std::vector<int32_t>{1})})[0], Stored({2, 30}));
    EXPECT_EQ(power.runner->Run({Stored({1, 2}), Packed(std::vector<int32_t>{3})})[0], Stored({8, 54}));
  }
}

TEST(TfliteControl, ScopesGrowWithStepsThatAreCut) {
  ConvertOptions options;
  options.costs = UnitCosts();
  options.max_step_us = 2;  // One element, and the step's own.
  options.max_trips = 4;
  Program choice(Choice(), options);
  EXPECT_GE(choice.Count(Op::kAdd), 2);
  EXPECT_EQ(choice.Run({{1}, Packed(Floats{5, 7})}), (Floats{7, 10}));
  EXPECT_EQ(choice.Run({{0}, Packed(Floats{5, 7})}), (Floats{10, 21}));
  Program power(Power(false), options);
  EXPECT_GE(power.Count(Op::kMul), 2);
  for (const auto& [n, want] : {std::pair{0, Floats{1, 10}}, {1, Floats{2, 30}}, {4, Floats{16, 810}}})
    EXPECT_EQ(power.Run({Packed(Floats{1, 10}), Packed(std::vector<int32_t>{n})}), want);
}

TEST(TfliteWhile, AsksForABound) {
  ExpectError(Power(false), "m:0(WHILE): error: is a loop whose number of trips does not follow from constants");
}

TfliteModel Signed() {
  TfliteModel model = Choice();
  model.signatures = {{"choose", 0, {{"which", 0}, {"value", 1}}, {{"result", 3}}},
                      {"sum", 1, {{"a", 0}, {"b", 1}}, {{"total", 2}}}};
  return model;
}

TEST(Signatures, GiveNamesAndSelectASubgraph) {
  Program first(Signed());
  EXPECT_EQ(first.runner->net().input("value").dims.size(), 1u);
  EXPECT_EQ(first.runner->plan().output(0).name, "result");
  ConvertOptions options;
  options.signature = "sum";
  Program sum(Signed(), options);
  EXPECT_EQ(sum.runner->plan().input(1).name, "b");
  EXPECT_EQ(sum.Run({Packed(Floats{1, 2}), Packed(Floats{10, 20})}), (Floats{11, 22}));
}

TEST(Signatures, ThatAreWrongAreErrors) {
  ConvertOptions options;
  options.signature = "difference";
  ExpectError(Signed(), "m: error: has no signature 'difference'; there are: choose, sum", options);
  TfliteModel model = Signed();
  model.signatures[0].inputs[0].second = 3;
  ExpectError(model, "m: error: has a signature 'choose' that names");
}

/// y = total + x, total = y; total is `start` at first.
TfliteModel Accumulator(Floats start = {0, 0}) {
  TfliteModel model;
  model.tensors = {Float("x"), Handle("handle"), Float("total"), Float("y")};
  model.operators = {CallOnce(1),
                     VarHandle("total", 1),
                     {Code::READ_VARIABLE, {1}, {2}},
                     Add(2, 0, 3),
                     {Code::ASSIGN_VARIABLE, {1, 3}, {}}};
  model.inputs = {0};
  model.outputs = {3};
  TfliteSubgraph init;
  init.tensors = {Handle("handle"), Constant(Float("start"), std::move(start))};
  init.operators = {VarHandle("total", 0), {Code::ASSIGN_VARIABLE, {0, 1}, {}}};
  model.others = {init};
  return model;
}

TEST(Variables, KeepTheirValueFromRunToRun) {
  Program program(Accumulator());
  EXPECT_EQ(program.Run({Packed(Floats{1, 2})}), (Floats{1, 2}));
  EXPECT_EQ(program.Run({Packed(Floats{1, 1})}), (Floats{2, 3}));
  EXPECT_TRUE(program.runner->net().ResetState().ok());
  EXPECT_EQ(program.Run({Packed(Floats{1, 1})}), (Floats{1, 1}));
}

TEST(Variables, StartAtTheirInitialValue) {
  Program program(Accumulator({1, 2}));
  EXPECT_EQ(program.Run({Packed(Floats{1, 1})}), (Floats{2, 3}));
  EXPECT_EQ(program.Run({Packed(Floats{1, 1})}), (Floats{3, 4}));
  EXPECT_TRUE(program.runner->net().ResetState().ok());
  EXPECT_EQ(program.Run({Packed(Floats{1, 1})}), (Floats{2, 3}));
}

TEST(Variables, AreReadAfterWhatWasAssignedBefore) {
  TfliteModel model = Accumulator();
  model.tensors.push_back(Float("again"));
  model.operators.push_back({Code::READ_VARIABLE, {1}, {4}});
  model.outputs = {4};
  Program program(model);
  EXPECT_EQ(program.Run({Packed(Floats{1, 2})}), (Floats{1, 2}));
}

TEST(Variables, ThatNothingAssignsAreConstants) {
  TfliteModel model = Accumulator({1, 2});
  model.operators.pop_back();
  Program program(model);
  EXPECT_EQ(program.runner->plan().state_count(), 0u);
  for (int run = 0; run < 2; ++run) EXPECT_EQ(program.Run({Packed(Floats{1, 1})}), (Floats{2, 3}));
}

TfliteSubgraph Assigning(TfliteOperator update, Floats constant) {
  TfliteSubgraph graph;
  graph.tensors = {Handle("handle"), Float("x"), Float("total"), Constant(Float("k"), std::move(constant)),
                   Float("new_total")};
  graph.operators = {
      VarHandle("total", 0), {Code::READ_VARIABLE, {0}, {2}}, std::move(update), {Code::ASSIGN_VARIABLE, {0, 4}, {}}};
  graph.inputs = {1};
  return graph;
}

/// total starts at {1, 2}; flag ? total = total + x : nothing; y = total.
TfliteModel Switched(bool other_assigns) {
  TfliteModel model = Accumulator({1, 2});
  model.tensors = {Flag("flag"), Float("x"), Handle("handle"), Float("y")};
  model.operators = {CallOnce(1), If({0, 1}, {}, 2, 3), VarHandle("total", 2), {Code::READ_VARIABLE, {2}, {3}}};
  model.inputs = {0, 1};
  model.outputs = {3};
  TfliteSubgraph nothing = Assigning(Mul(2, 3, 4), {-1, -1});
  if (!other_assigns) nothing.operators.clear();
  model.others.push_back(Assigning(Add(2, 1, 4), {0, 0}));
  model.others.push_back(nothing);
  return model;
}

TEST(Variables, AreAssignedWhereDataDecides) {
  Program program(Switched(false));
  EXPECT_EQ(program.runner->plan().state_count(), 1u);
  EXPECT_EQ(program.Run({{1}, Packed(Floats{10, 20})}), (Floats{11, 22}));
  EXPECT_EQ(program.Run({{0}, Packed(Floats{10, 20})}), (Floats{11, 22}));
  EXPECT_EQ(program.Run({{1}, Packed(Floats{1, 1})}), (Floats{12, 23}));
  EXPECT_TRUE(program.runner->net().ResetState().ok());
  EXPECT_EQ(program.Run({{0}, Packed(Floats{1, 1})}), (Floats{1, 2}));
  Program both(Switched(true));
  EXPECT_EQ(both.Run({{1}, Packed(Floats{1, 1})}), (Floats{2, 3}));
  EXPECT_EQ(both.Run({{0}, Packed(Floats{1, 1})}), (Floats{-2, -3}));
}

/// Power's body, with total = total + x for each trip; y = total.
TfliteModel Summing(bool constant) {
  TfliteModel model = Power(constant);
  const auto handle = static_cast<int32_t>(model.tensors.size());
  model.tensors.push_back(Handle("handle"));
  model.tensors.push_back(Float("total"));
  model.operators.push_back(VarHandle("total", handle));
  model.operators.push_back({Code::READ_VARIABLE, {handle}, {handle + 1}});
  model.outputs = {handle + 1};
  TfliteSubgraph& body = model.others[1];
  const auto inner = static_cast<int32_t>(body.tensors.size());
  for (const auto& t : {Handle("handle"), Float("total"), Float("sum")}) body.tensors.push_back(t);
  body.operators.push_back(VarHandle("total", inner));
  body.operators.push_back({Code::READ_VARIABLE, {inner}, {inner + 1}});
  body.operators.push_back(Add(inner + 1, 2, inner + 2));
  body.operators.push_back({Code::ASSIGN_VARIABLE, {inner, inner + 2}, {}});
  return model;
}

TEST(Variables, AreCarriedByLoops) {
  Program unrolled(Summing(true));
  EXPECT_EQ(unrolled.Run({Packed(Floats{1, 1})}), (Floats{7, 13}));
  EXPECT_EQ(unrolled.Run({Packed(Floats{1, 0})}), (Floats{14, 13}));
  ConvertOptions options;
  options.max_trips = 4;
  Program program(Summing(false), options);
  EXPECT_EQ(program.Run({Packed(Floats{1, 1}), Packed(std::vector<int32_t>{3})}), (Floats{7, 13}));
  EXPECT_EQ(program.Run({Packed(Floats{5, 5}), Packed(std::vector<int32_t>{0})}), (Floats{7, 13}));
  EXPECT_EQ(program.Run({Packed(Floats{5, 5}), Packed(std::vector<int32_t>{1})}), (Floats{12, 18}));
}

TEST(Variables, AreNotAssignedInAConditionOfALoop) {
  TfliteModel model = Summing(true);
  model.others[0].tensors.push_back(Handle("handle"));
  model.others[0].operators.push_back(VarHandle("total", 5));
  model.others[0].operators.push_back({Code::ASSIGN_VARIABLE, {5, 2}, {}});
  ExpectError(model, "m:0(WHILE): error: assigns a variable in its condition");
}

TEST(Variables, ThatAreWrongAreErrors) {
  TfliteModel model = Accumulator();
  model.operators[2].inputs = {0};
  ExpectError(model, "m:2(READ_VARIABLE): error: names a variable by what is no VAR_HANDLE");
  model = Accumulator();
  model.others[0].operators.push_back(Add(1, 1, 1));
  ExpectError(model, "m:0(CALL_ONCE): error: computes initial values");
  model = Accumulator();
  model.operators = {VarHandle("total", 1), {Code::READ_VARIABLE, {1}, {2}}, Add(2, 0, 3)};
  ExpectError(model, "m:1(READ_VARIABLE): error: reads a variable that nothing assigns");
  model = Accumulator();
  model.operators[0] = CallOnce(9);
  ExpectError(model, "m:0(CALL_ONCE): error: names a subgraph that does not exist");
}

}  // namespace
}  // namespace takt::test
