// Any bytes as an .onnx; what the importer accepts is verified and converted, and the plan opens and runs.
#include <cstdlib>

#include "converter/backend/convert.h"
#include "tests/support/try_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const takt::Conversion made = takt::ConvertOnnx({data, size}, "fuzz", {}, {});
  if (made.plan.empty()) return 0;
  // Large models exceed the fuzzer's limits; the converter never writes a plan that is malformed.
  if (takt::test::TryPlan(made.plan).code() == takt::StatusCode::kMalformedPlan) std::abort();
  return 0;
}

#ifdef TAKT_FUZZ
#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

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

/// Fields of the parsed model, or words of its bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  onnx::ModelProto model;
  if (random() % 3 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return takt::test::Mutate(data, size, max_size, seed);
  std::vector<Place> places;
  Collect(model, places);
  if (!places.empty()) Change(places[random() % places.size()], random);
  const std::string bytes = model.SerializePartialAsString();
  if (bytes.size() > max_size) return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
#endif
