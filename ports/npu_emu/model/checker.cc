#include "ports/npu_emu/model/checker.h"

#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/model/clock.h"
#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

constexpr uint32_t kRecent = 48;  ///< Accesses of a pipe that are remembered one by one.
constexpr uint32_t kIntervals = 4;
constexpr uint32_t kMarkBytes = 16;

/// How many commands of one pipe each of the others knows to be done.
struct Knowledge {
  uint32_t done[kPipes] = {};
  uint32_t users = 0;  ///< Bits of the pipes that have touched the space: those whose knowledge matters.

  /// A bit for each pipe that knows `command` to be done.
  uint32_t WhoKnows(uint32_t command) const {
    uint32_t pipes = 0;
    for (int p = 1; p < kPipes; ++p) pipes |= (command <= done[p] ? 1u : 0u) << p;
    return pipes;
  }
};
constexpr uint32_t kAllPipes = (1u << kPipes) - 2;

/// What a pipe has touched: the last accesses exactly, older ones as a few intervals for each space. Accesses share an
/// interval if the same pipes know them to be done; one that all know is forgotten.
class History {
 public:
  void Add(const Access& access, uint32_t command, const Knowledge& knowledge) {
    Entry& slot = recent_[next_ % kRecent];
    if (next_ >= kRecent) Retire(slot, knowledge);
    slot = {access, command};
    ++next_;
  }

  /// Whether an access that may still be under way, i.e. by a command after `known`, conflicts with `access`.
  bool Conflicts(const Access& access, uint32_t known) const {
    for (const Entry& old : old_[access.space]) {
      if (old.command > known && Clash(old.access, access)) return true;
    }
    const uint32_t count = next_ < kRecent ? next_ : kRecent;
    for (uint32_t i = 1; i <= count; ++i) {
      const Entry& e = recent_[(next_ - i) % kRecent];
      if (e.command <= known) return false;  // older ones are known as well
      if (Clash(e.access, access)) return true;
    }
    return false;
  }

 private:
  struct Entry {
    Access access;
    uint32_t command = 0;
  };
  static bool Clash(const Access& a, const Access& b) {
    return a.space == b.space && (a.write || b.write) && a.begin < b.end && b.begin < a.end;
  }
  /// Overlap; in memory also following each other. On chip that would be two slots.
  static bool Touch(const Access& a, const Access& b) {
    const uint64_t reach = a.space >= kFirstBase ? 1 : 0;
    return a.write == b.write && a.begin < b.end + reach && b.begin < a.end + reach;
  }
  /// Joins an interval of the same knowledge that it touches, else takes a free place, else widens one of the same
  /// knowledge, else any.
  void Retire(const Entry& e, const Knowledge& knowledge) {
    const uint32_t pipes = knowledge.WhoKnows(e.command);
    if (pipes == kAllPipes) return;
    Entry *touched = nullptr, *empty = nullptr, *alike = nullptr;
    for (Entry& old : old_[e.access.space]) {
      const uint32_t who = knowledge.WhoKnows(old.command);
      if (who == kAllPipes) {
        old = {};
        empty = &old;
      } else if (((who ^ pipes) & knowledge.users) == 0) {
        alike = &old;
        if (Touch(old.access, e.access)) touched = &old;
      }
    }
    Entry* place = touched != nullptr ? touched : empty != nullptr ? empty : alike;
    if (place == nullptr) place = &old_[e.access.space][0];
    if (place->command == 0) {
      *place = e;
      return;
    }
    Access& a = place->access;
    a.begin = e.access.begin < a.begin ? e.access.begin : a.begin;
    a.end = e.access.end > a.end ? e.access.end : a.end;
    a.write = a.write || e.access.write;
    place->command = e.command;
  }

  Entry recent_[kRecent];
  uint32_t next_ = 0;
  Entry old_[kFirstBase + kMaxBases][kIntervals];
};

struct EventState {
  Clock clocks[kMaxEventCount];
  uint32_t first = 0, count = 0;
};

/// Bits [begin, end) of an array of bytes, byte by byte.
struct BitRange {
  uint64_t begin, end;

  bool empty() const { return begin >= end; }
  uint64_t byte() const { return begin / 8; }
  std::byte mask() const {  ///< Of the range's bits in byte().
    const uint64_t last = end - byte() * 8;
    return std::byte{0xFF} << (begin % 8) & std::byte{0xFF} >> (last < 8 ? 8 - last : 0);
  }
  void NextByte() { begin = (byte() + 1) * 8; }
};

/// State of one walk; large, so it lives in one object that its owner places.
class Checker {
 public:
  Checker(const Machine& machine, std::span<const BaseLimits> bases, std::span<std::byte> marks)
      : machine_(machine), bases_(bases), marks_(marks) {}

  Status Check(const Command& command, const Walker& walker);
  Status AtEnd() const;

 private:
  Status Range(const Access& a) const;
  Status Event(const Command& command);
  uint64_t FirstMark(uint8_t space) const;
  BitRange MarksOf(const Access& a) const;
  bool Ready(const Access& a) const;
  void Mark(const Access& a);

  const Machine& machine_;
  std::span<const BaseLimits> bases_;
  std::span<std::byte> marks_;
  Clock clocks_[kPipes];
  uint32_t counts_[kPipes] = {};
  EventState events_[kMaxEvents];
  History histories_[kPipes];
  uint32_t users_[kFirstBase + kMaxBases] = {};  ///< Bits of pipes.
};

Status Bad(Site site) {
  return {StatusCode::kMalformedPlan, site};
}

Status Checker::Range(const Access& a) const {
  if (a.begin % a.alignment != 0) return Bad(Site::kNpuRange);
  if (a.space >= kFirstBase) {
    const size_t base = a.space - kFirstBase;
    const bool ok = base < bases_.size() && a.end <= bases_[base].bytes && (!a.write || bases_[base].writable);
    return ok ? Status() : Bad(Site::kNpuRange);
  }
  const bool ok = a.space < kBuffers && a.end <= machine_.buffers[a.space].bytes;
  return ok ? Status() : Bad(Site::kNpuRange);
}

uint64_t Checker::FirstMark(uint8_t space) const {
  uint64_t first = 0;
  for (uint8_t b = 0; b < space; ++b) first += CeilDiv(machine_.buffers[b].bytes, kMarkBytes);
  return first;
}

BitRange Checker::MarksOf(const Access& a) const {
  const uint64_t first = FirstMark(a.space);
  return {first + a.begin / kMarkBytes, first + (a.end - 1) / kMarkBytes + 1};
}

bool Checker::Ready(const Access& a) const {
  for (BitRange bits = MarksOf(a); !bits.empty(); bits.NextByte()) {
    if ((marks_[bits.byte()] & bits.mask()) != bits.mask()) return false;
  }
  return true;
}

void Checker::Mark(const Access& a) {
  for (BitRange bits = MarksOf(a); !bits.empty(); bits.NextByte()) marks_[bits.byte()] |= bits.mask();
}

Status Checker::Event(const Command& command) {
  const auto pipe = static_cast<int>(command.pipe);
  const uint32_t event = command.as<Set>().event;
  if (event >= kMaxEvents) return Bad(Site::kNpuCommand);
  EventState& state = events_[event];
  if (command.op == MicroOp::kSet) {
    if (state.count == kMaxEventCount) return Bad(Site::kNpuDeadlock);
    Clock& clock = state.clocks[(state.first + state.count++) % kMaxEventCount];
    clock = clocks_[pipe];
    clock.done[pipe] = counts_[pipe];
    return {};
  }
  if (state.count == 0) return Bad(Site::kNpuDeadlock);
  clocks_[pipe].Join(state.clocks[state.first]);
  state.first = (state.first + 1) % kMaxEventCount;
  --state.count;
  return {};
}

Status Checker::Check(const Command& command, const Walker& walker) {
  if (command.op == MicroOp::kEnd) return {};
  if (command.op == MicroOp::kSet || command.op == MicroOp::kWait) return Event(command);
  const auto pipe = static_cast<int>(command.pipe);
  const uint32_t number = ++counts_[pipe];
  const AccessList list = AccessesOf(command, walker);
  for (uint32_t i = 0; i < list.count; ++i) {
    const Access& a = list.items[i];
    TAKT_TRY(Range(a));
    if (a.read && a.space < kFirstBase && !Ready(a)) return Bad(Site::kNpuUnready);
    for (int other = 1; other < kPipes; ++other) {
      if (other != pipe && histories_[other].Conflicts(a, clocks_[pipe].done[other])) return Bad(Site::kNpuUnordered);
    }
  }
  Knowledge knowledge;
  for (int p = 1; p < kPipes; ++p) knowledge.done[p] = p == pipe ? number : clocks_[p].done[pipe];
  for (uint32_t i = 0; i < list.count; ++i) {
    knowledge.users = users_[list.items[i].space] |= 1u << pipe;
    histories_[pipe].Add(list.items[i], number, knowledge);
    if (list.items[i].write && list.items[i].space < kFirstBase) Mark(list.items[i]);
  }
  return {};
}

Status Checker::AtEnd() const {
  for (uint32_t e = 0; e < kMaxEvents; ++e) {
    if (events_[e].count != 0) return {StatusCode::kMalformedPlan, Site::kNpuEventLeft, e};
  }
  return {};
}

bool IsFeature(int32_t v, Type type) {
  return type == Type::kInt8 ? v >= INT8_MIN && v <= INT8_MAX : v >= INT16_MIN && v <= INT16_MAX;
}
/// int16 has none.
bool IsZeroPoint(int32_t v, Type type) {
  return type == Type::kInt8 ? IsFeature(v, type) : v == 0;
}

/// Of whole elements.
template <typename T>
bool StridesOk(const T& op, Type type) {
  return op.x_row % FeatureBytes(type) == 0 && op.x_pixel % FeatureBytes(type) == 0;
}

/// Weights lie in a weight buffer, whose bytes bound the kernels' scratch.
template <typename T>
bool ContractionOk(const T& op, Type type) {
  const auto space = static_cast<Buffer>(op.w.space);
  return (space == Buffer::kWeight || space == Buffer::kWeightB) && op.accumulate <= 1 &&
         IsZeroPoint(op.x_zero_point, type) && IsZeroPoint(op.w_zero_point, Type::kInt8) && StridesOk(op, type) &&
         (T::kOp == MicroOp::kContract || op.channels == op.out_channels);
}

/// Every window sees at least one cell of the box, and a sum of cells fits 32 bits.
bool PoolOk(const Pool& op, Type type) {
  const uint64_t most_cells = uint64_t{1} << (type == Type::kInt8 ? 23 : 15);
  const uint64_t y = uint64_t{op.out_height - 1} * op.stride_h, x = uint64_t{op.out_width - 1} * op.stride_w;
  return op.function <= 1 && op.pad_top < op.kernel_h && op.pad_left < op.kernel_w && op.dilation_h == 1 &&
         op.dilation_w == 1 && y < uint64_t{op.height} + op.pad_top && x < uint64_t{op.width} + op.pad_left &&
         uint64_t{op.kernel_h} * op.kernel_w <= most_cells && StridesOk(op, type) && IsFeature(op.low, type) &&
         IsFeature(op.high, type);
}

bool RequantizeOk(const Requantize& op, Type type) {
  const Stage last = type == Type::kInt8 ? Stage::kTflite : Stage::kTfliteNarrow;
  return op.numerics >= static_cast<uint32_t>(Stage::kFp32Rne) && op.numerics <= static_cast<uint32_t>(last) &&
         IsZeroPoint(op.zero_point, type) && IsFeature(op.low, type) && IsFeature(op.high, type);
}

/// As the op's rule in engine/ops: no sum of products leaves 32 bits, no shift is out of range.
bool AddOk(const Add& op, Type type) {
  constexpr int32_t kMax = 1 << 21;
  const auto small = [](int32_t m) { return m >= -kMax && m <= kMax; };
  const auto shift = [](int32_t s) { return s >= -31 && s <= 30; };
  const bool zero_points = IsZeroPoint(op.a_zero_point, type) && IsZeroPoint(op.b_zero_point, type) &&
                           IsZeroPoint(op.output_zero_point, type);
  if (!zero_points || !IsFeature(op.low, type) || !IsFeature(op.high, type) || op.function > 1) return false;
  if (op.numerics == 1) {
    return op.output_shift >= 1 && op.output_shift <= 30 && small(op.a_multiplier) && small(op.b_multiplier);
  }
  return op.numerics == 2 && shift(op.a_shift) && shift(op.b_shift) && shift(op.output_shift) && op.left_shift >= 0 &&
         op.left_shift <= 22;
}

/// Rules on a command's fields that the kinds of its words do not show.
Status CheckFields(const Command& command, const Machine& machine) {
  const Type type = command.type;
  bool ok = machine.computes(type);
  switch (command.op) {
    case MicroOp::kContract:
      ok = ok && ContractionOk(command.as<Contract>(), type);
      break;
    case MicroOp::kDepthwise:
      ok = ok && ContractionOk(command.as<Depthwise>(), type);
      break;
    case MicroOp::kPool:
      ok = ok && PoolOk(command.as<Pool>(), type);
      break;
    case MicroOp::kRequantize:
      ok = ok && RequantizeOk(command.as<Requantize>(), type);
      break;
    case MicroOp::kAdd:
      ok = ok && AddOk(command.as<Add>(), type);
      break;
    default:
      break;
  }
  return ok ? Status() : Bad(Site::kNpuCommand);
}

/// Inner iterations of a command that stays in its memory, which keeps the products below 2^60.
uint64_t WorkOf(const Command& command) {
  switch (command.op) {
    case MicroOp::kCopy: {
      const auto op = command.as<Copy>();
      return 1 + uint64_t{op.planes} * op.rows * op.row_bytes;
    }
    case MicroOp::kContract:
      return 1 + ContractionOf(command.as<Contract>(), command.type).macs();
    case MicroOp::kDepthwise:
      return 1 + ContractionOf(command.as<Depthwise>(), command.type).macs();
    case MicroOp::kPool: {
      const auto op = command.as<Pool>();
      return 1 + uint64_t{op.out_height} * op.out_width * op.channels * op.kernel_h * op.kernel_w;
    }
    case MicroOp::kRequantize: {
      const auto op = command.as<Requantize>();
      return 1 + uint64_t{op.pixels} * op.channels;
    }
    case MicroOp::kAdd: {
      const auto op = command.as<Add>();
      return 1 + uint64_t{op.rows} * op.columns;
    }
    default:
      return 1;
  }
}

}  // namespace

uint32_t MarkBytes(const Machine& machine) {
  uint64_t marks = 0;
  for (const BufferSpec& b : machine.buffers) marks += CeilDiv(b.bytes, kMarkBytes);
  return static_cast<uint32_t>(CeilDiv(marks, 8));
}

Status CheckStream(const Stream& stream, const Machine& machine, std::span<const BaseLimits> bases,
                   std::span<std::byte> marks, uint64_t& work) {
  if (bases.size() > kMaxBases || marks.size() < MarkBytes(machine)) return Bad(Site::kNpuStream);
  for (size_t i = 0; i < bases.size(); ++i) {
    if (stream.header.base_memory[i] >= machine.memory_count) return Bad(Site::kNpuStream);
  }
  std::memset(marks.data(), 0, marks.size());
  Checker checker(machine, bases, marks);
  Walker walker(stream.commands);
  const auto at = [&](Status s) { return s.ok() ? s : Status(s.code(), s.site(), walker.position()); };
  for (Command command;;) {
    TAKT_TRY(at(walker.NextChecked(command, kMaxCommands)));
    TAKT_TRY(at(CheckFields(command, machine)));
    TAKT_TRY(at(checker.Check(command, walker)));
    const uint64_t more = WorkOf(command);
    work = more > UINT64_MAX - work ? UINT64_MAX : work + more;
    if (command.op == MicroOp::kEnd) return checker.AtEnd();
  }
}

}  // namespace takt::npu
