// Real models: conversion, opening a plan, binding it, one invocation on the reference port.
#include <benchmark/benchmark.h>

#include "tests/bench/bench_models.h"
#include "tests/support/plan_runner.h"

namespace takt::bench {
namespace {

void Convert(benchmark::State& state, const BenchModel& model) {
  for (auto _ : state) benchmark::DoNotOptimize(ConvertTflite(model.file, model.name, {}));
}

void Open(benchmark::State& state, const BenchModel& model, bool check_hash) {
  test::PlanRunner runner(model.converted.plan);
  PlanOptions options;
  if (!check_hash) options.sha256 = nullptr;
  Plan plan;
  for (auto _ : state) benchmark::DoNotOptimize(plan.Open(runner.plan().bytes(), options));
}

void Init(benchmark::State& state, const BenchModel& model) {
  test::PlanRunner runner(model.converted.plan);
  for (auto _ : state) benchmark::DoNotOptimize(runner.Init());
}

void Invoke(benchmark::State& state, const BenchModel& model) {
  test::PlanRunner runner(model.converted.plan);
  for (auto _ : state) benchmark::DoNotOptimize(runner.net().Invoke());
}

const bool kRegistered = [] {
  for (const BenchModel& model : BenchModels()) {
    const auto add = [&](const char* what, auto function) {
      benchmark::RegisterBenchmark((what + ("/" + model.name)).c_str(), function)->Unit(benchmark::kMicrosecond);
    };
    add("Convert", [&](benchmark::State& state) { Convert(state, model); });
    add("Open", [&](benchmark::State& state) { Open(state, model, false); });
    add("OpenWithHash", [&](benchmark::State& state) { Open(state, model, true); });
    add("Init", [&](benchmark::State& state) { Init(state, model); });
    add("Invoke", [&](benchmark::State& state) { Invoke(state, model); });
  }
  return true;
}();

}  // namespace
}  // namespace takt::bench
