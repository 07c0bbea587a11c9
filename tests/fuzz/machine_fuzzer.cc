// Any bytes as a machine description, or as its compiled table: what is accepted is a table that devices accept, too,
// and a stream takes a time on it that every pipe accounts for.
#include <cstdlib>
#include <string>

#include "converter/npu/machine_json.h"
#include "converter/npu/stream_writer.h"
#include "ports/npu_emu/model/checker.h"
#include "ports/npu_emu/model/timing.h"

namespace {

using namespace takt::npu;

/// All pipes, within the smallest buffers.
std::vector<uint8_t> SmallStream() {
  const auto at = [](Buffer b, uint32_t offset = 0) { return Address{static_cast<uint8_t>(b), 0, 0, offset}; };
  const Address in{kFirstBase, 0, 0, 0}, out{kFirstBase + 1, 0, 0, 0};
  const Address x = at(Buffer::kFeature), w = at(Buffer::kWeight), acc = at(Buffer::kAccumulator, 16);
  const Address skip = at(Buffer::kSkip), y = at(Buffer::kOutput, 32), table = at(Buffer::kParameter);
  StreamWriter s;
  s.Emit(Pipe::kCommand, Loop{.trips = 3});
  s.Emit(Pipe::kOperand, Copy{.from = in, .to = x, .rows = 4, .row_bytes = 8, .from_row = 16, .to_row = 8});
  s.EmitSet(Pipe::kOperand, 0);
  for (const Address to : {w, table, skip}) s.Emit(Pipe::kLoad, Copy{.from = in, .to = to, .row_bytes = 32});
  s.EmitSet(Pipe::kLoad, 1);
  s.EmitWait(Pipe::kMac, 0);
  s.EmitWait(Pipe::kMac, 1);
  s.Emit(
      Pipe::kMac,
      Contract{.x = x, .w = w, .acc = acc, .width = 4, .channels = 8, .x_pixel = 8, .out_width = 4, .out_channels = 2});
  s.EmitSet(Pipe::kMac, 2);
  s.EmitWait(Pipe::kVector, 2);
  s.Emit(Pipe::kVector, Requantize{.acc = acc,
                                   .bias = table,
                                   .table = at(Buffer::kParameter, 16),
                                   .y = y,
                                   .pixels = 4,
                                   .channels = 2,
                                   .numerics = 1});
  s.Emit(Pipe::kVector, Pool{.x = skip, .y = y, .width = 2, .channels = 8, .x_pixel = 8, .kernel_w = 2});
  s.EmitSet(Pipe::kVector, 3);
  s.EmitWait(Pipe::kStore, 3);
  s.Emit(Pipe::kStore, Copy{.from = y, .to = out, .row_bytes = 8});
  s.EmitSet(Pipe::kStore, 4);
  s.EmitSet(Pipe::kStore, 5);
  s.EmitWait(Pipe::kOperand, 4);
  s.EmitWait(Pipe::kLoad, 5);
  s.Emit(Pipe::kCommand, Next{});
  return s.Finish();
}

void Time(const Machine& machine) {
  static const std::vector<uint8_t> bytes = SmallStream();
  Stream stream;
  if (!OpenStream(std::as_bytes(std::span(bytes)), stream).ok()) std::abort();
  const BaseLimits bases[] = {{64, false}, {64, true}};
  std::vector<std::byte> marks(MarkBytes(machine));
  uint64_t work = 0;
  if (!CheckStream(stream, machine, bases, marks, work).ok()) std::abort();
  Timing timing;
  const takt::Status status = Evaluate(stream, machine, timing);
  if (!status.ok()) {
    if (status.site() != takt::Site::kNpuTime) std::abort();
    return;
  }
  for (const PipeTime& pipe : timing.pipes) {
    if (pipe.Sum() != timing.total) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Machine read;
  if (ReadMachine({data, size}, read).ok()) Time(read);  // A compiled table, as a plan holds it.
  takt::Diagnostics diagnostics;
  // An override in the first line, if there is one: the command line's words come from outside, too.
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  if (text.starts_with("--set ")) {
    const size_t end = text.find('\n');
    overrides.push_back(text.substr(6, end == std::string::npos ? end : end - 6));
    text.erase(0, end == std::string::npos ? text.size() : end + 1);
  }
  if (const auto preset = PresetJson(text)) text = *preset;  // By its name, as on the command line.
  const auto machine = ParseMachine(text, "fuzz", overrides, diagnostics);
  if (!machine) {
    if (diagnostics.ok()) std::abort();  // Nothing is refused without a reason.
    return 0;
  }
  const std::span table(reinterpret_cast<const uint8_t*>(&machine->table), sizeof(machine->table));
  if (!ReadMachine(table, read).ok()) std::abort();
  Time(read);
  return 0;
}
