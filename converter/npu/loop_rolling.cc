#include "converter/npu/loop_rolling.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace takt::npu {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kMostTrips = 0xFFFF;
constexpr int kCandidates = 64;  ///< Lengths of a body that are tried: up to the next commands like its first one.
constexpr int64_t kLoopBytes = 4 + sizeof(Loop) + 4, kStepBytes = 4 + sizeof(Step);  ///< Loop and Next; Step.

/// `visit` gets the byte of each address in a command.
template <typename F>
void ForEachAddress(MicroOp op, const F& visit) {
  uint32_t at = 4;
  for (const Field& field : FindMicroOp(static_cast<uint8_t>(op))->fields) {
    const bool address = field.kind == FieldKind::kAddress;
    if (address) visit(at);
    at += address ? 8 : 4;
  }
}

/// The register of addresses that have `outer` in the loops around and step by `bytes` in this one.
struct Register {
  bool taken = false;
  uint8_t outer = 0;
  uint32_t bytes = 0;
};
using Registers = std::array<Register, kStepRegisters>;

struct Repetition {
  uint32_t length = 0, trips = 1;  ///< Of `length` commands each.
  Registers registers = {{{true, 0, 0}}};
  int64_t saved = 0;  ///< Bytes.
};

/// Takes the repetition that saves most from a command on, then those in its body.
class Roller {
 public:
  explicit Roller(std::span<const std::byte> commands);

  void Roll(uint32_t first, uint32_t end);
  /// That begins at `byte`, or would as the next one.
  uint32_t CommandAt(uint32_t byte) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(commands_, byte, {}, &Entry::at) - commands_.begin());
  }
  uint32_t command_count() const { return static_cast<uint32_t>(commands_.size() - 1); }
  StreamWriter& writer() { return w_; }

 private:
  /// Commands of one shape differ in nothing but the offsets of their addresses.
  struct Entry {
    uint32_t at = 0, shape = kNone, first_address = 0;
    uint32_t next = kNone;  ///< Of that shape.
  };
  struct Place {
    uint32_t offset = 0;
    uint8_t step = 0;  ///< The register that the loops around give it.
  };
  uint8_t RegisterFor(Registers& registers, uint8_t outer, uint32_t bytes) const;
  bool BeginsAgain(uint32_t first, Repetition& r) const;
  bool GoesOn(uint32_t first, const Repetition& r) const;
  Repetition Repeat(uint32_t first, uint32_t length, uint32_t end) const;
  Repetition Best(uint32_t first, uint32_t end) const;
  void EmitLoop(uint32_t first, Repetition& r);
  void Emit(uint32_t i);
  std::span<const Place> PlacesOf(uint32_t first, uint32_t length) const {
    const uint32_t begin = commands_[first].first_address;
    return std::span(places_).subspan(begin, commands_[first + length].first_address - begin);
  }

  std::span<const std::byte> bytes_;
  std::vector<Entry> commands_;  ///< And one behind the last.
  std::vector<Place> places_;    ///< Of all addresses.
  std::vector<Registers> loops_;
  std::vector<std::byte> command_;
  StreamWriter w_;
};

Roller::Roller(std::span<const std::byte> commands) : bytes_(commands) {
  std::unordered_map<std::string, uint32_t> shapes;
  std::string shape;
  for (uint32_t at = 0; at < commands.size();) {
    const Command command = DecodeChecked(commands, at);
    Entry entry{at, kNone, static_cast<uint32_t>(places_.size())};
    at += 4 + 4 * command.words;
    shape.assign(reinterpret_cast<const char*>(commands.data()) + entry.at, at - entry.at);
    ForEachAddress(command.op, [&](uint32_t byte) {
      Address a;
      std::memcpy(&a, shape.data() + byte, sizeof(a));
      places_.push_back({std::exchange(a.offset, 0)});
      std::memcpy(shape.data() + byte, &a, sizeof(a));
    });
    entry.shape = shapes.try_emplace(shape, shapes.size()).first->second;
    commands_.push_back(entry);
  }
  std::vector<uint32_t> last(shapes.size(), kNone);
  for (auto i = static_cast<uint32_t>(commands_.size()); i-- > 0;)
    commands_[i].next = std::exchange(last[commands_[i].shape], i);
  commands_.push_back({static_cast<uint32_t>(commands.size()), kNone, static_cast<uint32_t>(places_.size())});
}

/// Addresses that step alike in all loops share a register. kStepRegisters: none is left.
uint8_t Roller::RegisterFor(Registers& registers, uint8_t outer, uint32_t bytes) const {
  for (uint8_t r = 0; r < kStepRegisters; ++r) {
    if (registers[r].taken && registers[r].outer == outer && registers[r].bytes == bytes) return r;
  }
  const auto alike = [&](uint8_t r) {
    return std::ranges::all_of(loops_, [&](const Registers& loop) { return loop[r].bytes == loop[outer].bytes; });
  };
  for (uint8_t r = 1; r < kStepRegisters; ++r) {
    if (registers[r].taken || !alike(r)) continue;
    registers[r] = {true, outer, bytes};
    return r;
  }
  return kStepRegisters;
}

/// Whether the commands of a second trip are those of the first, their addresses stepping by registers.
bool Roller::BeginsAgain(uint32_t first, Repetition& r) const {
  uint32_t a = commands_[first].first_address;
  for (uint32_t i = first; i < first + r.length; ++i) {
    if (commands_[i].shape != commands_[i + r.length].shape) return false;
    const uint32_t trip = commands_[i + r.length].first_address - commands_[i].first_address;
    for (; a < commands_[i + 1].first_address; ++a) {
      const Place &here = places_[a], &there = places_[a + trip];
      const uint32_t bytes = there.offset - here.offset;
      if (here.step != there.step || there.offset < here.offset || bytes > INT32_MAX ||
          RegisterFor(r.registers, here.step, bytes) == kStepRegisters)
        return false;
    }
  }
  return true;
}

/// Whether the trip behind `r` steps as the second one does.
bool Roller::GoesOn(uint32_t first, const Repetition& r) const {
  const uint32_t next = first + r.trips * r.length;
  for (uint32_t i = 0; i < r.length; ++i) {
    if (commands_[first + i].shape != commands_[next + i].shape) return false;
  }
  const auto one = PlacesOf(first, r.length), two = PlacesOf(first + r.length, r.length), at = PlacesOf(next, r.length);
  for (size_t a = 0; a < one.size(); ++a) {
    const uint64_t offset = one[a].offset + uint64_t{r.trips} * (two[a].offset - one[a].offset);
    if (at[a].step != one[a].step || at[a].offset != offset) return false;
  }
  return true;
}

Repetition Roller::Repeat(uint32_t first, uint32_t length, uint32_t end) const {
  Repetition r;
  r.length = length;
  if (!BeginsAgain(first, r)) return {};
  for (r.trips = 2; r.trips < kMostTrips && first + (r.trips + 1) * length <= end && GoesOn(first, r);) ++r.trips;
  const int64_t body = commands_[first + length].at - commands_[first].at;
  r.saved = body * (r.trips - 1) - kLoopBytes;
  for (const Register& step : r.registers) r.saved -= step.bytes != 0 ? kStepBytes : 0;
  return r;
}

Repetition Roller::Best(uint32_t first, uint32_t end) const {
  Repetition best;
  uint32_t next = commands_[first].next;
  for (int i = 0; i < kCandidates && next < end; ++i, next = commands_[next].next) {
    const uint32_t length = next - first;
    if (length > end - next) break;
    const bool several_trips = best.saved > 0 && length % best.length == 0 && length < best.length * best.trips;
    if (several_trips) continue;
    const Repetition r = Repeat(first, length, end);
    if (r.saved > best.saved) best = r;
  }
  return best;
}

void Roller::EmitLoop(uint32_t first, Repetition& r) {
  w_.Emit(Pipe::kCommand, Loop{.trips = r.trips});
  const auto one = PlacesOf(first, r.length), two = PlacesOf(first + r.length, r.length);
  const uint32_t begin = commands_[first].first_address;
  for (uint32_t a = 0; a < one.size(); ++a)
    places_[begin + a].step = RegisterFor(r.registers, one[a].step, two[a].offset - one[a].offset);
  loops_.push_back(r.registers);
  Roll(first, first + r.length);
  loops_.pop_back();
  for (uint32_t i = 1; i < kStepRegisters; ++i) {
    if (r.registers[i].bytes != 0) w_.Emit(Pipe::kCommand, Step{.index = i, .bytes = r.registers[i].bytes});
  }
  w_.Emit(Pipe::kCommand, Next{});
}

void Roller::Emit(uint32_t i) {
  const auto from = bytes_.subspan(commands_[i].at, commands_[i + 1].at - commands_[i].at);
  command_.assign(from.begin(), from.end());
  const Place* place = &places_[commands_[i].first_address];
  ForEachAddress(static_cast<MicroOp>(from[0]), [&](uint32_t byte) {
    command_[byte + offsetof(Address, step)] = std::byte{place++->step};
  });
  w_.Append(command_);
}

void Roller::Roll(uint32_t first, uint32_t end) {
  while (first < end) {
    Repetition best;
    if (loops_.size() < kMaxLoopDepth) best = Best(first, end);
    if (best.saved > 0) {
      EmitLoop(first, best);
      first += best.length * best.trips;
    } else {
      Emit(first++);
    }
  }
}

}  // namespace

StreamWriter RollLoops(const StreamWriter& unrolled, std::span<uint32_t> positions) {
  Roller roller(std::as_bytes(std::span(unrolled.bytes())));
  uint32_t done = 0;
  for (uint32_t& at : positions) {
    const uint32_t next = roller.CommandAt(at);
    roller.Roll(done, next);
    done = next;
    at = roller.writer().position();
  }
  roller.Roll(done, roller.command_count());
  return std::move(roller.writer());
}

}  // namespace takt::npu
