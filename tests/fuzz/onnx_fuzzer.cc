// Any bytes as an .onnx; what the importer accepts is verified and converted, and the plan opens and runs. A first line
// of options may stand before the model: they come from outside, too.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "converter/backend/convert.h"
#include "tests/support/try_plan.h"

namespace {

/// Bytes before the model: none, or a line that starts with "--".
size_t OptionBytes(std::string_view bytes) {
  return bytes.starts_with("--") ? std::min(bytes.find('\n'), bytes.size() - 1) + 1 : 0;
}

/// "--shape=x=1x3 --constant=c=1,2 --nhwc"; a word that is none of these is passed over.
takt::frontend::OnnxOptions ReadOptions(absl::string_view line) {
  takt::frontend::OnnxOptions options;
  for (absl::string_view word : absl::StrSplit(line, absl::ByAnyChar(" \n"))) {
    const std::vector<std::string> parts = absl::StrSplit(word, '=');
    options.nhwc_inputs = options.nhwc_inputs || parts[0] == "--nhwc";
    if (parts.size() != 3) continue;
    int32_t dim = 0;
    double value = 0;
    if (parts[0] == "--shape") {
      for (absl::string_view part : absl::StrSplit(parts[2], 'x'))
        if (absl::SimpleAtoi(part, &dim)) options.shapes[parts[1]].push_back(dim);
    } else {
      for (absl::string_view part : absl::StrSplit(parts[2], ','))
        if (absl::SimpleAtod(part, &value)) options.constants[parts[1]].push_back(value);
    }
  }
  return options;
}

/// A folder whose file `data` has 64 bytes: external data of models.
std::string DataFolder() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "takt_onnx_fuzzer";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "data", std::ios::binary) << std::string(64, '?');
  return folder.string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string folder = DataFolder();
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t options_end = OptionBytes({bytes.data(), bytes.size()});
  takt::frontend::OnnxOptions options = ReadOptions(bytes.substr(0, options_end));
  options.folder = folder;
  const takt::Conversion made = takt::ConvertOnnx({data + options_end, size - options_end}, "fuzz", options, {});
  if (made.plan.empty()) return 0;
  // Large models exceed the fuzzer's limits; the converter never writes a plan that is malformed.
  if (takt::test::TryPlan(made.plan).code() == takt::StatusCode::kMalformedPlan) std::abort();
  return 0;
}

#ifdef TAKT_FUZZ
#include <onnx/onnx_pb.h>

#include "tests/fuzz/mutate.h"

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// A set field of a message, or of one in it, somewhere down.
struct Place {
  Message* message;
  const FieldDescriptor* field;
};
void Collect(Message& message, std::vector<Place>& places) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    places.push_back({&message, field});
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) Collect(*message.GetReflection()->MutableMessage(&message, field), places);
    for (int i = 0; field->is_repeated() && i < message.GetReflection()->FieldSize(message, field); ++i)
      Collect(*message.GetReflection()->MutableRepeatedMessage(&message, field, i), places);
  }
}

/// Removes, repeats, swaps, or changes by one.
void Change(const Place& place, std::minstd_rand& random) {
  Message& message = *place.message;
  const auto* r = message.GetReflection();
  const FieldDescriptor* f = place.field;
  const auto value = static_cast<int64_t>(random() % 4 == 0 ? random() : random() % 8) - 2;
  if (f->is_repeated()) {
    const int count = r->FieldSize(message, f);
    const int a = static_cast<int>(random() % static_cast<unsigned>(count));
    if (random() % 3 == 0) return r->RemoveLast(&message, f);
    if (random() % 3 == 0) return r->SwapElements(&message, f, a, 0);
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_INT64) return r->SetRepeatedInt64(&message, f, a, value);
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      return r->AddMessage(&message, f)->CopyFrom(r->GetRepeatedMessage(message, f, a));
    if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
      return r->AddString(&message, f, r->GetRepeatedString(message, f, a));
    return;
  }
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return r->SetInt64(&message, f, value);
    case FieldDescriptor::CPPTYPE_INT32:
      return r->SetInt32(&message, f, static_cast<int32_t>(value));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->SetFloat(&message, f, static_cast<float>(value) / 2);
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->SetEnumValue(&message, f, static_cast<int>(random() % 16));
    default:
      return r->ClearField(&message, f);
  }
}

}  // namespace

/// Fields of the parsed model, or words of its bytes; options stay as they are.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const size_t head = OptionBytes({reinterpret_cast<const char*>(data), size});
  data += head, size -= head, max_size -= head;
  std::minstd_rand random(seed);
  onnx::ModelProto model;
  if (random() % 3 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return head + takt::test::Mutate(data, size, max_size, seed);
  std::vector<Place> places;
  Collect(model, places);
  if (!places.empty()) Change(places[random() % places.size()], random);
  const std::string bytes = model.SerializePartialAsString();
  if (bytes.size() > max_size) return head + size;
  std::memcpy(data, bytes.data(), bytes.size());
  return head + bytes.size();
}
#endif
