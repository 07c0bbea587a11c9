#include "converter/npu/loop_rolling.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace takt::npu {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kMostTrips = 0xFFFF;
constexpr int kCandidates = 16;  ///< Lengths of a body that are tried: up to the next commands like its first one.
constexpr int64_t kLoopBytes = 4 + sizeof(Loop) + 4, kStepBytes = 4 + sizeof(Step);  ///< Loop and Next; Step.

/// The first fields of every row.
uint32_t AddressCount(MicroOp op) {
  const auto fields = FindMicroOp(static_cast<uint8_t>(op))->fields;
  const auto other = std::ranges::find_if(fields, [](const Field& f) { return f.kind != FieldKind::kAddress; });
  return static_cast<uint32_t>(other - fields.begin());
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
  explicit Roller(std::span<const uint8_t> commands);

  void Roll(uint32_t first, uint32_t end);
  /// That begins at `byte`, or would as the next one.
  uint32_t CommandAt(uint32_t byte) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(commands_, byte / 4, {}, &Entry::at) - commands_.begin());
  }
  uint32_t command_count() const { return static_cast<uint32_t>(commands_.size() - 1); }
  StreamWriter& writer() { return w_; }

 private:
  /// Commands of one shape differ in nothing but the offsets of their addresses.
  struct Entry {
    uint32_t at = 0, addresses = 0;
    uint32_t shape = kNone, next = kNone;  ///< The next one of that shape.
  };
  void FindShapes();
  /// True if `visit` is for every word of the shape.
  template <typename F>
  bool AllOfShape(uint32_t i, const F& visit) const {
    const uint32_t rest = 1 + 2 * commands_[i].addresses, end = WordsOf(i);
    for (uint32_t word = 1; word < rest; word += 2) {
      if (!visit(word)) return false;
    }
    for (uint32_t word = rest; word < end; ++word) {
      if (!visit(word)) return false;
    }
    return visit(0);
  }
  bool Alike(uint32_t i, uint32_t j) const;
  uint32_t WordsOf(uint32_t i) const { return commands_[i + 1].at - commands_[i].at; }
  Address AddressOf(uint32_t i, uint32_t n) const {
    Address a;
    std::memcpy(static_cast<void*>(&a), &words_[commands_[i].at + 1 + 2 * n], sizeof(a));
    return a;
  }
  uint8_t RegisterFor(Registers& registers, uint8_t outer, uint32_t bytes) const;
  bool Steps(uint32_t i, uint32_t length) const;
  bool BeginsAgain(uint32_t first, Repetition& r);
  bool GoesOn(uint32_t first, const Repetition& r) const;
  Repetition Repeat(uint32_t first, uint32_t length, uint32_t end);
  Repetition Best(uint32_t first, uint32_t end);
  void Assign(uint32_t first, Repetition& r);
  void EmitLoop(uint32_t first, Repetition& r);

  std::vector<uint32_t> words_;  ///< Of the stream; addresses have the registers of the loops that are known.
  std::vector<Entry> commands_;  ///< And one behind the last.
  std::vector<uint32_t> ends_;   ///< By length of a body: the last command found that is in none.
  std::vector<Registers> loops_;
  StreamWriter w_;
};

Roller::Roller(std::span<const uint8_t> commands) : words_(commands.size() / 4) {
  uint32_t addresses[static_cast<size_t>(MicroOp::kCount)];
  for (uint8_t op = 0; op < std::size(addresses); ++op) addresses[op] = AddressCount(static_cast<MicroOp>(op));
  if (!commands.empty()) std::memcpy(words_.data(), commands.data(), commands.size());
  for (uint32_t at = 0; at < words_.size(); at += 1 + npu::WordsOf(words_[at]))
    commands_.push_back({at, addresses[words_[at] & 0xFF]});
  commands_.push_back({static_cast<uint32_t>(words_.size()), 0});
  FindShapes();
  ends_.assign(commands_.size(), kNone);
}

bool Roller::Alike(uint32_t i, uint32_t j) const {
  const uint32_t *a = &words_[commands_[i].at], *b = &words_[commands_[j].at];
  return a[0] == b[0] && AllOfShape(i, [&](uint32_t word) { return a[word] == b[word]; });
}

void Roller::FindShapes() {
  std::unordered_map<uint64_t, uint32_t> shapes;
  std::vector<uint32_t> first;
  for (uint32_t i = 0; i < command_count(); ++i) {
    Entry& c = commands_[i];
    const uint32_t* words = &words_[c.at];
    uint64_t hash = 0;
    AllOfShape(i, [&](uint32_t word) {
      hash = (hash ^ words[word]) * 0x9E3779B97F4A7C15;
      return true;
    });
    hash ^= hash >> 32;
    for (;; ++hash) {
      const auto [at, fresh] = shapes.try_emplace(hash, static_cast<uint32_t>(first.size()));
      if (fresh) first.push_back(i);
      c.shape = at->second;
      if (fresh || Alike(i, first[c.shape])) break;
    }
  }
  std::ranges::fill(first, kNone);
  for (uint32_t i = command_count(); i-- > 0;) commands_[i].next = std::exchange(first[commands_[i].shape], i);
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

/// Whether command `i` comes again `length` commands later, its addresses at or behind those that it has.
bool Roller::Steps(uint32_t i, uint32_t length) const {
  if (commands_[i].shape != commands_[i + length].shape) return false;
  for (uint32_t n = 0; n < commands_[i].addresses; ++n) {
    const Address here = AddressOf(i, n), there = AddressOf(i + length, n);
    if (here.step != there.step || there.offset < here.offset || there.offset - here.offset > INT32_MAX) return false;
  }
  return true;
}

/// Whether the commands of a second trip are those of the first, their addresses stepping by registers.
bool Roller::BeginsAgain(uint32_t first, Repetition& r) {
  uint32_t stepping = kNone;  // The first command that does.
  for (uint32_t i = first; i < first + r.length; ++i) {
    if (!Steps(i, r.length)) {
      ends_[r.length] = i;
      return false;
    }
    for (uint32_t n = 0; n < commands_[i].addresses; ++n) {
      const Address here = AddressOf(i, n);
      const uint32_t bytes = AddressOf(i + r.length, n).offset - here.offset;
      const uint8_t step = RegisterFor(r.registers, here.step, bytes);
      if (step != 0) stepping = std::min(stepping, i);
      if (step == kStepRegisters) {
        ends_[r.length] = stepping;
        return false;
      }
    }
  }
  return true;
}

/// Whether the trip behind `r` steps as the second one does.
bool Roller::GoesOn(uint32_t first, const Repetition& r) const {
  for (uint32_t i = first; i < first + r.length; ++i) {
    const uint32_t next = i + r.trips * r.length;
    if (commands_[i].shape != commands_[next].shape) return false;
    for (uint32_t n = 0; n < commands_[i].addresses; ++n) {
      const Address here = AddressOf(i, n), there = AddressOf(next, n);
      const uint32_t bytes = AddressOf(i + r.length, n).offset - here.offset;
      if (here.step != there.step || there.offset != here.offset + uint64_t{r.trips} * bytes) return false;
    }
  }
  return true;
}

Repetition Roller::Repeat(uint32_t first, uint32_t length, uint32_t end) {
  Repetition r;
  r.length = length;
  if (!BeginsAgain(first, r)) return {};
  for (r.trips = 2; r.trips < kMostTrips && first + (r.trips + 1) * length <= end && GoesOn(first, r);) ++r.trips;
  const int64_t body = 4 * (int64_t{commands_[first + length].at} - commands_[first].at);
  r.saved = body * (r.trips - 1) - kLoopBytes;
  for (const Register& step : r.registers) r.saved -= step.bytes != 0 ? kStepBytes : 0;
  return r;
}

Repetition Roller::Best(uint32_t first, uint32_t end) {
  Repetition best;
  uint32_t next = commands_[first].next;
  for (int i = 0; i < kCandidates && next < end; ++i, next = commands_[next].next) {
    const uint32_t length = next - first;
    if (length > end - next) break;
    const bool several_trips = best.saved > 0 && length % best.length == 0 && length < best.length * best.trips;
    const bool ends = ends_[length] >= first && ends_[length] < next;
    if (several_trips || ends) continue;
    const Repetition r = Repeat(first, length, end);
    if (r.saved > best.saved) best = r;
  }
  return best;
}

/// Gives the addresses of the body their registers.
void Roller::Assign(uint32_t first, Repetition& r) {
  for (uint32_t i = first; i < first + r.length; ++i) {
    for (uint32_t n = 0; n < commands_[i].addresses; ++n) {
      Address a = AddressOf(i, n);
      a.step = RegisterFor(r.registers, a.step, AddressOf(i + r.length, n).offset - a.offset);
      std::memcpy(&words_[commands_[i].at + 1 + 2 * n], &a, sizeof(a));
    }
  }
}

void Roller::EmitLoop(uint32_t first, Repetition& r) {
  w_.Emit(Pipe::kCommand, Loop{.trips = r.trips});
  Assign(first, r);
  loops_.push_back(r.registers);
  Roll(first, first + r.length);
  loops_.pop_back();
  for (uint32_t i = 1; i < kStepRegisters; ++i) {
    if (r.registers[i].bytes != 0) w_.Emit(Pipe::kCommand, Step{.index = i, .bytes = r.registers[i].bytes});
  }
  w_.Emit(Pipe::kCommand, Next{});
}

void Roller::Roll(uint32_t first, uint32_t end) {
  while (first < end) {
    Repetition best;
    if (loops_.size() < kMaxLoopDepth) best = Best(first, end);
    if (best.saved > 0) {
      EmitLoop(first, best);
      first += best.length * best.trips;
    } else {
      w_.Append(std::as_bytes(std::span(words_).subspan(commands_[first].at, WordsOf(first))));
      ++first;
    }
  }
}

}  // namespace

StreamWriter RollLoops(const StreamWriter& unrolled, std::span<uint32_t> positions) {
  Roller roller(unrolled.bytes());
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
