// The emulated NPU without data: time of a compiled stream, and compiling for machine after machine.
#include <benchmark/benchmark.h>

#include <random>
#include <stdexcept>

#include "converter/backend/step_builder.h"
#include "converter/frontend/tflite_importer.h"
#include "converter/memory/schedule.h"
#include "converter/npu/compiler.h"
#include "converter/npu/machine_json.h"
#include "converter/passes/pass.h"
#include "tests/bench/bench_models.h"

namespace takt::bench {
namespace {

/// A model up to the point where the machine matters.
struct Lowered {
  ir::Graph graph;
  std::vector<backend::StepSpec> steps;
};

Lowered Lower(const BenchModel& model) {
  Diagnostics diagnostics;
  auto graph = frontend::ImportTflite(model.file, model.name, diagnostics, {});
  if (!graph) throw std::runtime_error(model.name);
  passes::PassContext context{Numerics::kFp32Rne, diagnostics};
  passes::RunPasses(*graph, context, false, {});
  auto steps = backend::LowerGraph(*graph, Numerics::kFp32Rne, diagnostics);
  steps = memory::ScheduleSteps(*graph, std::move(steps));
  return {std::move(*graph), std::move(steps)};
}

npu::Machine Preset(const char* name) {
  Diagnostics diagnostics;
  return npu::ParseMachine(*npu::PresetJson(name), name, {}, diagnostics).value().table;
}

/// A machine like no other: array, bandwidths, latencies and buffers drawn from powers of two.
npu::Machine Variant(std::mt19937& random) {
  npu::Machine m = Preset("ethos-u55-256");
  const auto power = [&](uint32_t low, uint32_t high) { return uint32_t{1} << (low + random() % (high - low + 1)); };
  m.array.width = static_cast<uint16_t>(power(0, 3));
  m.array.height = static_cast<uint16_t>(power(0, 2));
  m.array.depth = static_cast<uint16_t>(power(2, 5));
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    m.memories[i].bytes_per_cycle = {power(0, 6), 1};
    m.memories[i].read_latency = m.memories[i].write_latency = power(2, 9);
  }
  for (npu::BufferSpec& b : m.buffers) b.bytes = b.bytes == 0 ? 0 : power(13, 18);
  return m;
}

void Evaluate(benchmark::State& state, const BenchModel& model) {
  const npu::Machine machine = Preset("ethos-u55-256");
  Lowered lowered = Lower(model);
  Diagnostics diagnostics;
  const npu::Compilation made = npu::Compile(lowered.graph, lowered.steps, machine, diagnostics);
  uint64_t cycles = 0, commands = 0;
  for (auto _ : state) {
    cycles = commands = 0;
    for (const backend::JobSpec& job : made.device.jobs) {
      npu::Stream stream;
      npu::Timing timing;
      Status status = npu::OpenStream(std::as_bytes(std::span(job.stream)), stream);
      if (status.ok()) status = npu::Evaluate(stream, machine, timing);
      if (!status.ok()) state.SkipWithError("the stream does not run");
      cycles += timing.Cycles(machine);
      commands += timing.commands;
    }
  }
  state.counters["cycles"] = static_cast<double>(cycles);
  state.counters["commands"] = static_cast<double>(commands);
}

constexpr int kMachines = 1000;

void NewMachine(benchmark::State& state, const BenchModel& model) {
  const Lowered lowered = Lower(model);
  std::mt19937 random(1);
  for (auto _ : state) {
    Diagnostics diagnostics;
    ir::Graph graph = lowered.graph;
    benchmark::DoNotOptimize(npu::Compile(graph, lowered.steps, Variant(random), diagnostics));
    for (const Diagnostic& d : diagnostics.all()) {
      if (d.severity == Severity::kError) state.SkipWithError(d.message.c_str());
    }
  }
}

const bool kRegistered = [] {
  for (const BenchModel& model : BenchModels()) {
    const auto add = [&](const char* what, auto function) {
      return benchmark::RegisterBenchmark((what + ("/" + model.name)).c_str(), function)->Unit(benchmark::kMillisecond);
    };
    add("NpuEvaluate", [&](benchmark::State& state) { Evaluate(state, model); });
    add("NpuNewMachine", [&](benchmark::State& state) { NewMachine(state, model); })->Iterations(kMachines);
  }
  return true;
}();

}  // namespace
}  // namespace takt::bench
