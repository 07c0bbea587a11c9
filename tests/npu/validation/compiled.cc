#include "tests/npu/validation/compiled.h"

#include <fstream>
#include <stdexcept>

#include "converter/backend/convert.h"

namespace takt::npu::validation {
namespace {

Timing Time(const backend::JobSpec& job, const Machine& machine, const SpanSink& sink = {}) {
  Stream stream;
  Timing timing;
  Status status = OpenStream(std::as_bytes(std::span(job.stream)), stream);
  if (status.ok()) status = Evaluate(stream, machine, timing, sink);
  if (!status.ok()) throw std::runtime_error("the stream does not run");
  return timing;
}

/// When the last result of every layer leaves the vector unit.
struct Ends {
  const CompiledJob& job;
  std::vector<Ticks> layers;

  static void Add(void* context, const Span& span) {
    auto& self = *static_cast<Ends*>(context);
    if (span.command.pipe != Pipe::kVector || span.command.op == MicroOp::kSet || span.command.op == MicroOp::kWait)
      return;
    size_t i = self.layers.size() - 1;
    while (i > 0 && self.job.layers[i].first_command > span.position) --i;
    self.layers[i] = span.free;
  }
};

}  // namespace

Compilation CompileModel(const std::filesystem::path& model, const Machine& machine) {
  std::ifstream file(model, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  ConvertOptions options;
  options.machine = machine;
  Conversion made = ConvertTflite(bytes, model.filename().string(), options);
  if (!made.diagnostics.ok()) throw std::runtime_error(model.string() + ": does not convert");
  return std::move(made.npu);
}

uint64_t JobCycles(const Compilation& compilation, const Machine& machine) {
  uint64_t cycles = 0;
  for (const backend::JobSpec& job : compilation.device.jobs) cycles += Time(job, machine).Cycles(machine);
  return cycles;
}

double ExposedReads(const Compilation& compilation, const Machine& machine, int memory) {
  double trips = 0;
  for (const backend::JobSpec& job : compilation.device.jobs) trips += Time(job, machine).round_trips.read[memory];
  return trips / kWholeTrip;
}

std::vector<LayerCycles> CyclesByLayer(const Compilation& compilation, const Machine& machine) {
  std::vector<LayerCycles> all;
  for (size_t j = 0; j < compilation.jobs.size(); ++j) {
    const CompiledJob& job = compilation.jobs[j];
    Ends ends{job, std::vector<Ticks>(job.layers.size())};
    Time(compilation.device.jobs[j], machine, {&Ends::Add, &ends});
    Ticks before = uint64_t{machine.job_cycles} << machine.tick_shift;
    for (size_t i = 0; i < job.layers.size(); ++i) {
      all.push_back({job.layers[i].layer, static_cast<double>(ends.layers[i] - before) /
                                              static_cast<double>(uint64_t{1} << machine.tick_shift)});
      before = ends.layers[i];
    }
  }
  return all;
}

}  // namespace takt::npu::validation
