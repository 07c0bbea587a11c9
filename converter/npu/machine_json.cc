#include "converter/npu/machine_json.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "converter/base/json.h"

namespace takt::npu {
namespace {

using Json = nlohmann::ordered_json;

const std::map<std::string, ArrayKind> kArrayKinds = {{"ublock", ArrayKind::kUblock},
                                                      {"cube", ArrayKind::kCube},
                                                      {"systolic_os", ArrayKind::kOutputStationary},
                                                      {"systolic_ws", ArrayKind::kWeightStationary},
                                                      {"systolic_is", ArrayKind::kInputStationary}};
const std::map<std::string, Pipe> kPipeKeys = {
    {"load", Pipe::kLoad}, {"operand", Pipe::kOperand}, {"mac", Pipe::kMac}, {"vector", Pipe::kVector}};
const std::map<std::string, CoreSplit> kCoreSplits = {{"channels", CoreSplit::kChannels}, {"rows", CoreSplit::kRows}};
const std::map<std::string, uint8_t> kTileRules = {{"any", 0}, {"rows", 1}};

/// One object of the description: reads keys, remembers which, and reports the rest.
class Section {
 public:
  Section(const Json& json, std::string path, const std::string& origin, Diagnostics& diagnostics)
      : json_(json), path_(std::move(path)), origin_(origin), diagnostics_(diagnostics) {
    if (!json_.is_object()) Error("", "must be an object");
  }
  Section(const Section&) = delete;

  /// After the last key was read.
  void ReportUnread() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items()) {
      if (!read_.count(key)) Error(key, "is not a key of this section; it has: " + absl::StrJoin(read_, ", "));
    }
  }
  void Error(const std::string& key, const std::string& text) {
    diagnostics_.Error({origin_, -1, "", PathOf(key)}, text);
  }
  std::string PathOf(const std::string& key) const {
    return path_.empty() ? key : key.empty() ? path_ : path_ + "." + key;
  }
  const Json* Find(const std::string& key, bool required) {
    read_.insert(key);
    const auto at = json_.is_object() ? json_.find(key) : json_.end();
    if (json_.is_object() && at != json_.end()) return &*at;
    if (required) Error(key, "is missing; add it");
    return nullptr;
  }
  template <typename T>
  void Integer(const std::string& key, T& value, bool required = true) {
    const Json* json = Find(key, required);
    if (json == nullptr) return;
    const bool fits = json->is_number_unsigned() && json->get<uint64_t>() <= std::numeric_limits<T>::max();
    if (!fits)
      return Error(key, absl::StrCat("must be an integer from 0 to ", uint64_t{std::numeric_limits<T>::max()}));
    value = static_cast<T>(json->get<uint64_t>());
  }
  /// An integer, or "num/den".
  void Rational(const std::string& key, Ratio& value, bool required = true) {
    const Json* json = Find(key, required);
    if (json == nullptr) return;
    const std::string text = json->is_string() ? json->get<std::string>() : json->dump();
    const std::vector<std::string> parts = absl::StrSplit(text, '/');
    Ratio ratio;
    const bool ok = !parts.empty() && parts.size() <= 2 && absl::SimpleAtoi(parts[0], &ratio.num) &&
                    (parts.size() == 1 || (absl::SimpleAtoi(parts[1], &ratio.den) && ratio.den != 0));
    if (!ok) return Error(key, "must be an integer or a rational \"num/den\"; floating point is not exact");
    value = ratio;
  }
  std::string Text(const std::string& key, bool required = true) {
    const Json* json = Find(key, required);
    if (json == nullptr) return "";
    if (json->is_string() && !json->get_ref<const std::string&>().empty()) return json->get<std::string>();
    Error(key, "must be a string, not empty");
    return "";
  }
  template <typename T>
  void Choice(const std::string& key, const std::map<std::string, T>& choices, T& value, bool required = true) {
    const std::string text = Text(key, required);
    if (const auto at = choices.find(text); at != choices.end()) {
      value = at->second;
    } else if (!text.empty()) {
      std::vector<std::string> names;
      for (const auto& [name, unused] : choices) names.push_back(name);
      Error(key, "'" + text + "' is unknown; choose one of: " + absl::StrJoin(names, ", "));
    }
  }
  void Name(const std::string& key, std::span<char> name) {
    const std::string text = Text(key);
    if (text.empty() || text.size() >= name.size())
      return Error(key, absl::StrCat("must have 1 to ", name.size() - 1, " bytes"));
    std::memcpy(name.data(), text.data(), text.size());
  }

 private:
  const Json& json_;
  std::string path_;
  const std::string& origin_;
  Diagnostics& diagnostics_;
  std::set<std::string> read_;
};

class Parser {
 public:
  Parser(const std::string& origin, Diagnostics& diagnostics) : origin_(origin), diagnostics_(diagnostics) {}

  MachineDescription Parse(const Json& json) {
    Section root(json, "", origin_, diagnostics_);
    Machine& m = made_.table;
    root.Name("name", m.name);
    root.Integer("clock_hz", m.clock_hz);
    root.Integer("tick_shift", m.tick_shift);
    root.Integer("issue_cycles", m.issue_cycles);
    root.Integer("job_cycles", m.job_cycles);
    root.Integer("set_cycles", m.set_cycles, false);
    root.Integer("wait_cycles", m.wait_cycles, false);
    root.Integer("queue_depth", m.queue_depth, false);
    root.Choice("feature_pipe", kPipeKeys, m.feature_pipe);
    root.Choice("pool_pipe", kPipeKeys, m.pool_pipe);
    root.Choice("tiles", kTileRules, m.whole_rows, false);
    Memories(root);
    In(root, "buffers", [&](Section& s) { ParseBuffers(s); });
    In(root, "routes", [&](Section& s) {
      for (const Pipe pipe : {Pipe::kLoad, Pipe::kOperand, Pipe::kStore})
        s.Rational(PipeName(pipe), m.port[static_cast<int>(pipe)]);
    });
    In(root, "array", [&](Section& s) { ParseArray(s); });
    In(root, "vector", [&](Section& s) { ParseVector(s); });
    In(root, "host", [&](Section& s) {
      s.Rational("cycles_per_mac", m.host.cycles_per_mac);
      s.Rational("cycles_per_element", m.host.cycles_per_element);
      s.Integer("cycles_per_step", m.host.cycles_per_step);
    });
    Provenance(root);
    root.ReportUnread();
    return std::move(made_);
  }

 private:
  template <typename F>
  void In(Section& root, const std::string& key, F read, bool required = true) {
    const Json* json = root.Find(key, required);
    if (json == nullptr) return;
    Section section(*json, root.PathOf(key), origin_, diagnostics_);
    read(section);
    section.ReportUnread();
  }

  void ParseArray(Section& s) {
    Array& a = made_.table.array;
    s.Choice("kind", kArrayKinds, a.kind);
    s.Integer("width", a.width);
    s.Integer("height", a.height);
    s.Integer("depth", a.depth);
    s.Integer("reduction", a.reduction);
    s.Integer("cores", a.cores);
    s.Integer("fill", a.fill);
    s.Choice("split", kCoreSplits, a.split, false);
    s.Rational("link_bytes_per_cycle", a.link_bytes_per_cycle, false);
    s.Integer("link_latency", a.link_latency, false);
    s.Integer("weights_per_cycle", a.weights_per_cycle, false);
    s.Integer("femtojoule_per_mac", a.femtojoule_per_mac, false);
    s.Integer("square_micrometre_per_mac", a.square_micrometre_per_mac, false);
    Int16x8 wide = {a.width, a.height, a.depth, a.reduction, 0, 0, {}};
    const auto read = [&](Section& types) {
      types.Integer("width", wide.width, false);
      types.Integer("height", wide.height, false);
      types.Integer("depth", wide.depth, false);
      types.Integer("reduction", wide.reduction, false);
      types.Integer("femtojoule_per_mac", wide.femtojoule_per_mac, a.femtojoule_per_mac != 0);
      made_.table.int16x8 = wide;
      has_int16x8_ = true;
    };
    In(s, TypeName(Type::kInt16x8), read, false);
  }

  void ParseVector(Section& s) {
    Machine& m = made_.table;
    const auto cycles = [](Section& from, Ratio* to) {
      from.Rational("requantize", to[static_cast<int>(VectorFunction::kRequantize)]);
      from.Rational("add", to[static_cast<int>(VectorFunction::kAdd)]);
      from.Rational("pool", to[static_cast<int>(VectorFunction::kPool)]);
    };
    cycles(s, m.vector);
    s.Integer("femtojoule_per_element", m.femtojoule_per_element, false);
    const auto read = [&](Section& types) {
      cycles(types, m.int16x8.vector);
      types.Integer("femtojoule_per_element", m.int16x8.femtojoule_per_element, m.femtojoule_per_element != 0);
      if (!has_int16x8_) types.Error("", "is of no use without array.int16x8; add that");
    };
    In(s, TypeName(Type::kInt16x8), read, has_int16x8_);
  }

  void ParseBuffers(Section& s) {
    Machine& m = made_.table;
    for (int b = 0; b < kBuffers; ++b) {
      BufferSpec& spec = m.buffers[b];
      const auto read = [&](Section& buffer) {
        buffer.Integer("bytes", spec.bytes);
        buffer.Integer("granule", spec.granule, false);
        buffer.Integer("banks", spec.banks, false);
        buffer.Integer("ports", spec.ports, false);
        buffer.Integer("femtojoule_per_byte", spec.femtojoule_per_byte, false);
      };
      In(s, BufferName(static_cast<Buffer>(b)), read, b <= static_cast<int>(Buffer::kSkip));
    }
    s.Integer("square_micrometre_per_kib", m.square_micrometre_per_kib, false);
  }

  bool states_energy() const {
    const Machine& m = made_.table;
    bool stated = m.array.femtojoule_per_mac != 0 || m.femtojoule_per_element != 0;
    for (const BufferSpec& b : m.buffers) stated = stated || b.femtojoule_per_byte != 0;
    for (const Memory& memory : m.memories) stated = stated || memory.femtojoule_per_byte != 0;
    return stated;
  }
  bool states_area() const {
    return made_.table.array.square_micrometre_per_mac != 0 || made_.table.square_micrometre_per_kib != 0;
  }

  void Memories(Section& root) {
    Machine& m = made_.table;
    std::map<std::string, uint8_t> names;
    const Json* list = root.Find("memories", true);
    if (list == nullptr) return;
    if (!list->is_array() || list->empty() || list->size() > kMaxMemories) {
      return root.Error("memories", absl::StrCat("must be a list of 1 to ", kMaxMemories, " memories"));
    }
    for (const Json& json : *list) {
      Memory& memory = m.memories[m.memory_count];
      Section s(json, absl::StrCat("memories[", m.memory_count, "]"), origin_, diagnostics_);
      s.Name("name", memory.name);
      s.Integer("bytes", memory.bytes);
      s.Rational("bytes_per_cycle", memory.bytes_per_cycle);
      s.Integer("read_latency", memory.read_latency);
      s.Integer("write_latency", memory.write_latency);
      s.Integer("burst_bytes", memory.burst_bytes);
      s.Integer("outstanding", memory.outstanding);
      s.Integer("femtojoule_per_byte", memory.femtojoule_per_byte, false);
      if (!names.emplace(memory.name, m.memory_count).second) s.Error("name", "is taken by another memory");
      s.ReportUnread();
      ++m.memory_count;
    }
    root.Choice("features", names, m.feature_memory);
    root.Choice("constants", names, m.constant_memory);
    m.spill_memory = m.feature_memory;
    root.Choice("spill", names, m.spill_memory, false);
  }

  /// Figures without a source are not accepted.
  void Provenance(Section& root) {
    In(root, "sources", [&](Section& s) {
      const auto read = [&](const char* key, bool required) {
        const std::string text = s.Text(key, required);
        if (!text.empty()) made_.sources.push_back(absl::StrCat(key, ": ", text));
      };
      for (const char* key : {"array", "memories", "buffers", "routes", "vector", "host", "issue"}) read(key, true);
      read("energy", states_energy());
      read("area", states_area());
      read(TypeName(Type::kInt16x8), has_int16x8_);
    });
    const Json* list = root.Find("validated_against", true);
    if (list == nullptr) return;
    if (!list->is_array()) return root.Error("validated_against", "must be a list of strings, empty if unvalidated");
    for (const Json& entry : *list) {
      if (!entry.is_string()) return root.Error("validated_against", "must be a list of strings");
      made_.validated_against.push_back(entry.get<std::string>());
    }
    made_.table.validated = made_.validated();
  }

  const std::string& origin_;
  Diagnostics& diagnostics_;
  MachineDescription made_;
  bool has_int16x8_ = false;
};

/// Every buffer must hold what the array takes of int8 at once; layers of int16x8 may find that no tile fits.
void CheckTile(const Machine& m, const std::string& origin, Diagnostics& diagnostics) {
  const Array& a = m.array;
  const bool systolic = a.kind != ArrayKind::kUblock && a.kind != ArrayKind::kCube;
  const bool rows = a.split == CoreSplit::kRows;
  const uint64_t outputs = a.cores * (systolic ? a.width : uint64_t{a.width} * a.height * a.depth);
  const uint64_t features = (rows ? a.cores : 1) * (systolic ? a.height : uint64_t{a.width} * a.height * a.reduction);
  const uint64_t weights =
      (rows ? 1 : a.cores) * (systolic ? uint64_t{a.width} * a.height : uint64_t{a.reduction} * a.depth);
  const std::pair<Buffer, uint64_t> needs[] = {{Buffer::kFeature, features},
                                               {Buffer::kWeight, weights},
                                               {Buffer::kAccumulator, 4 * outputs},
                                               {Buffer::kOutput, outputs}};
  for (const auto& [buffer, bytes] : needs) {
    if (m.slot(buffer) >= bytes) continue;
    diagnostics.Error({origin, -1, "", absl::StrCat("buffers.", BufferName(buffer))},
                      absl::StrCat("a slot (half of it) has ", m.slot(buffer), " bytes, the array takes ", bytes,
                                   " at once: ", bytes - m.slot(buffer), " are missing"));
  }
}

/// The key under which what breaks a rule is described; empty if the rule's text says it.
std::string PlaceOf(const BrokenRule& broken, const Machine& m) {
  switch (broken.rule) {
    case MachineRule::kBandwidth:
    case MachineRule::kBurst:
    case MachineRule::kLatency:
      return absl::StrCat("memories.", m.memories[broken.part].name);
    case MachineRule::kBuffer:
    case MachineRule::kGranule:
    case MachineRule::kBanks:
      return absl::StrCat("buffers.", BufferName(static_cast<Buffer>(broken.part)));
    case MachineRule::kPort:
      return absl::StrCat("routes.", PipeName(static_cast<Pipe>(broken.part)));
    default:
      return "";
  }
}

/// A buffer may be given as its bytes.
void ExpandBuffers(Json& json) {
  if (!json.is_object() || !json.contains("buffers") || !json["buffers"].is_object()) return;
  for (int b = 0; b < kBuffers; ++b) {
    Json& buffers = json["buffers"];
    const char* name = BufferName(static_cast<Buffer>(b));
    if (buffers.contains(name) && !buffers[name].is_object()) buffers[name] = Json{{"bytes", buffers[name]}};
  }
}

/// The child named by one part of an override's path: a key, which is made if it is not there, or the element of a list
/// whose name it is.
Json* Child(Json& json, const std::string& part) {
  if ((json.is_object() || json.is_null()) && !part.empty()) return &json[part];
  if (!json.is_array()) return nullptr;
  for (Json& element : json) {
    if (element.is_object() && element.contains("name") && element["name"] == part) return &element;
  }
  return nullptr;
}

/// A key that no section has is found when the description is read.
void Override(Json& json, const std::string& text, const std::string& origin, Diagnostics& diagnostics) {
  const std::vector<std::string> sides = absl::StrSplit(text, absl::MaxSplits('=', 1));
  Json* at = json.is_object() && sides.size() == 2 ? &json : nullptr;
  for (const auto part : absl::StrSplit(sides[0], '.')) {
    if (at != nullptr) at = Child(*at, std::string(part));
  }
  if (at != nullptr && at->is_object() && at->contains("bytes")) at = &(*at)["bytes"];
  if (at == nullptr || at->is_structured()) {
    return diagnostics.Error({origin, -1, "", sides[0]},
                             "an override is key=value with a key of the description, such as array.width=4 or "
                             "memories.sram.read_latency=100");
  }
  std::string no_number;
  const std::optional<Json> value = ParseJson(sides[1], no_number);
  *at = value && (value->is_number() || value->is_boolean()) ? *value : Json(sides[1]);
}

}  // namespace

std::optional<MachineDescription> ParseMachine(std::string_view text, const std::string& origin,
                                               std::span<const std::string> overrides, Diagnostics& diagnostics) {
  std::string problem;
  std::optional<Json> document = ParseJson(text, problem);
  if (!document) {
    diagnostics.Error({origin, -1, "", ""}, problem + "; see converter/npu/README.md");
    return std::nullopt;
  }
  Json& json = *document;
  ExpandBuffers(json);
  Diagnostics found;
  for (const std::string& entry : overrides) {
    Override(json, entry, origin, found);
    ExpandBuffers(json);
  }
  MachineDescription made = Parser(origin, found).Parse(json);
  if (found.ok()) {
    const BrokenRule broken = CheckMachine(made.table);
    if (broken.rule != MachineRule::kOk)
      found.Error({origin, -1, "", PlaceOf(broken, made.table)}, MachineRuleText(broken.rule));
    else
      CheckTile(made.table, origin, found);
  }
  for (const Diagnostic& d : found.all()) diagnostics.Error(d.where, d.message);
  if (!found.ok()) return std::nullopt;
  return made;
}

}  // namespace takt::npu
