// Real int8 models beside XNNPACK's operators, in turns, one thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>

#include "converter/npu/machine_json.h"
#include "ports/npu_emu/npu_emu.h"
#include "tests/bench/xnnpack_layers.h"
#include "tests/support/plan_runner.h"
#include "tests/support/ports.h"

namespace takt::bench {
namespace {

using test::Bytes;

/// CPU seconds of this thread, so that a busy machine takes as little from long turns as from short ones.
double Seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Times `ours` and `theirs` in turns. Time: ours. times_xnnpack: the best turn of ours / that of theirs.
template <typename Ours, typename Theirs>
void InTurns(benchmark::State& state, uint64_t macs, Ours ours, Theirs theirs) {
  double best = INFINITY, their_best = INFINITY;
  for (auto _ : state) {
    const double begin = Seconds();
    ours();
    const double middle = Seconds();
    theirs();
    const double end = Seconds();
    state.SetIterationTime(middle - begin);
    best = std::min(best, middle - begin);
    their_best = std::min(their_best, end - middle);
  }
  state.counters["times_xnnpack"] = best / their_best;
  state.counters["best_us"] = 1e6 * best;
  state.counters["xnnpack_us"] = 1e6 * their_best;
  state.counters["gmac_s"] = 1e-9 * static_cast<double>(macs) / best;
  state.counters["xnnpack_gmac_s"] = 1e-9 * static_cast<double>(macs) / their_best;
}

Bytes RandomBytes(size_t count) {
  Bytes bytes(count);
  uint32_t random = 1;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((random = random * 1664525 + 1013904223) >> 24);
  return bytes;
}

struct Layer {
  explicit Layer(const ir::Graph& graph)
      : input(RandomBytes(static_cast<size_t>(graph.tensor(graph.inputs[0]).byte_size()))),
        ours(ConvertGraph(graph, {}, {}).plan),
        peer(graph) {
    peer.SetInput(input);
  }
  Bytes input;
  test::PlanRunner ours;
  XnnpackLayer peer;
};

/// Layer by layer on the reference port. An error if one byte differs.
void Layers(benchmark::State& state, const BenchModel& model) {
  std::vector<std::unique_ptr<Layer>> layers;
  for (const ir::Graph& op : Operators(model)) {
    if (op.nodes.size() == 1 && op.inputs.size() == 1 && IsContraction(op, op.nodes[0]))
      layers.push_back(std::make_unique<Layer>(op));
  }
  uint64_t macs = 0;
  for (const auto& layer : layers) {
    macs += layer->peer.macs();
    layer->peer.Run();
    if (layer->ours.Run({layer->input})[0] != layer->peer.output())
      return state.SkipWithError("bytes differ from XNNPACK's");
  }
  InTurns(
      state, macs,
      [&] {
        for (const auto& layer : layers) benchmark::DoNotOptimize(layer->ours.net().Invoke());
      },
      [&] {
        for (const auto& layer : layers) layer->peer.Run();
      });
}

/// Whole invocations of `runner` beside the sum of the model's operators that XNNPACK has.
void Network(benchmark::State& state, const BenchModel& model, test::PlanRunner& runner) {
  std::vector<std::unique_ptr<XnnpackLayer>> peers;
  uint64_t macs = 0;
  for (const ir::Graph& op : Operators(model)) {
    if (op.nodes.size() != 1 || !IsXnnpackLayer(op, op.nodes[0])) continue;
    peers.push_back(std::make_unique<XnnpackLayer>(op));
    macs += peers.back()->macs();
  }
  InTurns(
      state, macs, [&] { benchmark::DoNotOptimize(runner.net().Invoke()); },
      [&] {
        for (const auto& peer : peers) peer->Run();
      });
}

void OnPort(benchmark::State& state, const BenchModel& model, const test::KernelPort& port) {
  test::PlanRunner runner(model.converted.plan, port.kernels);
  Network(state, model, runner);
}

void OnNpu(benchmark::State& state, const BenchModel& model) {
  Diagnostics diagnostics;
  const char* name = "ethos-u55-256";
  ConvertOptions options;
  options.machine = npu::ParseMachine(*npu::PresetJson(name), name, {}, diagnostics).value().table;
  const npu::Machine& machine = *options.machine;
  test::AlignedBytes workspace(npu::NpuEmu::WorkspaceBytes(machine));
  npu::VirtualClock clock;
  npu::NpuEmu emu;
  const std::span table(reinterpret_cast<const uint8_t*>(&machine), sizeof(machine));
  if (!emu.Init(table, workspace.span(), clock).ok()) return state.SkipWithError("the machine is refused");
  Device* const devices[] = {&emu};
  test::PlanRunner runner(ConvertTflite(model.file, model.name, options).plan, test::KernelPorts()[0].kernels, devices);
  Network(state, model, runner);
}

template <typename Run>
void Register(const std::string& name, Run run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

const bool kRegistered = [] {
  for (const BenchModel& model : BenchModels()) {
    const ir::Graph& graph = model.converted.graph;
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& n) { return IsContraction(graph, n); }))
      continue;
    Register("BesideXnnpack/layers/" + model.name, [&](benchmark::State& state) { Layers(state, model); });
    for (const test::KernelPort& port : test::KernelPorts()) {
      Register(std::string("BesideXnnpack/") + port.name + "/" + model.name,
               [&](benchmark::State& state) { OnPort(state, model, port); });
    }
    Register("BesideXnnpack/npu_emu/" + model.name, [&](benchmark::State& state) { OnNpu(state, model); });
  }
  return true;
}();

}  // namespace
}  // namespace takt::bench
