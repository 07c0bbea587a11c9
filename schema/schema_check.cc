// The op table, the schema's union and the engine's enums say the same, or this file does not compile.
#include "engine/base/data_type.h"
#include "engine/core/kernel.h"
#include "engine/core/op.h"
#include "schema/plan_generated.h"

namespace takt {
namespace {

#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits)                          \
  static_assert(static_cast<int>(Op::k##Name) == static_cast<int>(schema::Params::Name),            \
                #name ": the row's place in op_table.inc differs from its member in union Params"); \
  static_assert((min_inputs) <= (max_inputs) && (max_inputs) + (outputs) + 1 <= kMaxOperands, #name ": arity");
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs)
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
static_assert(static_cast<int>(Op::kPlanOpEnd) == static_cast<int>(schema::Params::MAX) + 1,
              "a union member has no row");

static_assert(static_cast<int>(Op::kSubmit) == static_cast<int>(schema::Params::Submit));
static_assert(static_cast<int>(Op::kWait) == static_cast<int>(schema::Params::Wait));
static_assert(static_cast<int>(Op::kSkipIf) == static_cast<int>(schema::Params::SkipIf));
static_assert(static_cast<int>(Op::kLoop) == static_cast<int>(schema::Params::Loop));

static_assert(static_cast<int>(schema::DataType::MAX) + 1 == kDataTypeCount);
static_assert(static_cast<int>(DataType::kFloat32) == static_cast<int>(schema::DataType::float32));
static_assert(static_cast<int>(DataType::kInt8) == static_cast<int>(schema::DataType::int8));
static_assert(static_cast<int>(DataType::kUint8) == static_cast<int>(schema::DataType::uint8));
static_assert(static_cast<int>(DataType::kInt16) == static_cast<int>(schema::DataType::int16));
static_assert(static_cast<int>(DataType::kInt32) == static_cast<int>(schema::DataType::int32));
static_assert(static_cast<int>(DataType::kInt64) == static_cast<int>(schema::DataType::int64));
static_assert(static_cast<int>(DataType::kBool) == static_cast<int>(schema::DataType::boolean));
static_assert(static_cast<int>(DataType::kInt4) == static_cast<int>(schema::DataType::int4));
static_assert(static_cast<int>(DataType::kFloat16) == static_cast<int>(schema::DataType::float16));
static_assert(static_cast<int>(DataType::kUint32) == static_cast<int>(schema::DataType::uint32));
static_assert(static_cast<int>(DataType::kUint64) == static_cast<int>(schema::DataType::uint64));
static_assert(static_cast<int>(Numerics::kTflite) == static_cast<int>(schema::Numerics::tflite));
static_assert(static_cast<int>(Numerics::kFp32Rne) == static_cast<int>(schema::Numerics::fp32_rne));

// Published structs: their sizes are the format.
static_assert(sizeof(schema::Conv2dParams) == 32 && sizeof(schema::DepthwiseConv2dParams) == 32);
static_assert(sizeof(schema::FullyConnectedParams) == 16 && sizeof(schema::AddParams) == 32);
static_assert(sizeof(schema::Conv2dAddParams) == 64 && sizeof(schema::MulParams) == 28);
static_assert(sizeof(schema::Pool2dParams) == 28 && sizeof(schema::SoftmaxParams) == 16);
static_assert(sizeof(schema::CopyParams) == 1 && sizeof(schema::PadParams) == 64 &&
              sizeof(schema::TransposeParams) == 7);
static_assert(sizeof(schema::MeanParams) == 32 && sizeof(schema::RequantizeParams) == 24);
static_assert(sizeof(schema::QuantizeParams) == 8 && sizeof(schema::DequantizeParams) == 8);
static_assert(sizeof(schema::ClampParams) == 8 && sizeof(schema::UnaryParams) == 8);
static_assert(sizeof(schema::TransposeConv2dParams) == 32 && sizeof(schema::Conv3dParams) == 40);
static_assert(sizeof(schema::BatchMatMulParams) == 28 && sizeof(schema::LeakyReluParams) == 32);
static_assert(sizeof(schema::SigmoidTableParams) == 12);
static_assert(sizeof(schema::BinaryParams) == 40 && sizeof(schema::CompareParams) == 24);
static_assert(sizeof(schema::ReduceParams) == 8 && sizeof(schema::ArgReduceParams) == 2);
static_assert(sizeof(schema::CumulativeSumParams) == 3 && sizeof(schema::LocalResponseNormalizationParams) == 16);
static_assert(sizeof(schema::LogicParams) == 1 && sizeof(schema::SelectParams) == 1 && sizeof(schema::CastParams) == 1);
static_assert(sizeof(schema::TopKParams) == 2 && sizeof(schema::ReverseSequenceParams) == 2);
static_assert(sizeof(schema::GatherNdParams) == 1 && sizeof(schema::ScatterNdParams) == 1);
static_assert(sizeof(schema::UpdateSliceParams) == 1 && sizeof(schema::DetectionParams) == 44);
static_assert(sizeof(schema::Rescale) == 12 && sizeof(schema::SvdfParams) == 40);
static_assert(sizeof(schema::LstmParams) == 296 && sizeof(schema::RecurrentParams) == 16);
static_assert(sizeof(schema::SignalWindowParams) == 1 && sizeof(schema::FftAutoScaleParams) == 1);
static_assert(sizeof(schema::FftParams) == 4 && sizeof(schema::EnergyParams) == 8);
static_assert(sizeof(schema::OverlapAddParams) == 4 && sizeof(schema::FilterBankParams) == 1);
static_assert(sizeof(schema::FilterBankSquareRootParams) == 1 && sizeof(schema::SpectralSubtractionParams) == 24);
static_assert(sizeof(schema::FilterBankLogParams) == 8 && sizeof(schema::PcanParams) == 1);
static_assert(sizeof(schema::NonMaxSuppressionParams) == 12 && sizeof(schema::L2NormalizationParams) == 8);
static_assert(sizeof(schema::Tensor) == 12 && sizeof(schema::Live) == 6 && sizeof(schema::Constant) == 16);
static_assert(sizeof(schema::Arena) == 12 && sizeof(schema::Limits) == 16);

}  // namespace
}  // namespace takt
