// Tiles of layers as commands: loads, computing and stores overlap through double-buffered channels.
#ifndef TAKT_CONVERTER_NPU_EMITTER_H_
#define TAKT_CONVERTER_NPU_EMITTER_H_

#include <array>
#include <map>
#include <span>
#include <vector>

#include "converter/npu/boxes.h"
#include "converter/npu/stream_writer.h"
#include "converter/npu/tiling.h"

namespace takt::npu {

/// The buffers that pipes hand to each other, slot by slot: channel i has the events 2 * i (ready) and 2 * i + 1
/// (free).
inline constexpr Buffer kChannelBuffers[] = {Buffer::kFeature,   Buffer::kWeight,      Buffer::kFeatureA,
                                             Buffer::kWeightB,   Buffer::kAccumulator, Buffer::kOutput,
                                             Buffer::kParameter, Buffer::kSkip,        Buffer::kOutput};
inline constexpr uint32_t kChannels = 9;
inline constexpr uint32_t kStoredEvent = 2 * kChannels;  ///< All stores of a layer are done.

/// The slots of a buffer between two pipes. Events count: `ready` slots that are filled, `free` slots that are empty
/// again.
class Channel {
 public:
  /// `index` in kChannelBuffers.
  Channel(const Machine& machine, uint32_t index, Pipe producer, Pipe consumer)
      : buffer_(kChannelBuffers[index]),
        producer_(producer),
        consumer_(consumer),
        slot_(machine.slot(buffer_)),
        ready_(2 * index),
        free_(2 * index + 1) {}

  Address Acquire(StreamWriter& w);  ///< The producer may fill this slot.
  void Publish(StreamWriter& w) const { w.EmitSet(producer_, ready_); }
  Address Take(StreamWriter& w);  ///< The consumer may read the slot that was filled first.
  void Release(StreamWriter& w) const { w.EmitSet(consumer_, free_); }

 private:
  Address Slot(uint32_t n) const { return {static_cast<uint8_t>(buffer_), 0, 0, n % kSlots * slot_}; }

  Buffer buffer_;
  Pipe producer_, consumer_;
  uint32_t slot_, ready_, free_;
  uint32_t acquired_ = 0, taken_ = 0;
};

/// Where a layer's operands lie.
struct LayerPlace {
  Image x, y, skip;
  uint8_t constants = kFirstBase;  ///< Space of the packed constants.
  bool reads_stored = true;        ///< x or skip may be what the job has stored since it last waited for that.
};

/// Writes one job, layer by layer. Packed constants grow beside it, in the order in which the machine reads them.
class Emitter {
 public:
  explicit Emitter(const Machine& machine);

  void Emit(const Layer& layer, const Tiling& tiling, const LayerPart& part, const LayerPlace& place,
            const ir::Graph& graph);
  /// Ends the job; no layer may follow. Events that order nothing go, repetitions become loops; `positions` of
  /// commands, ascending, which no loop goes across, move along.
  void Close(std::span<uint32_t> positions);

  StreamWriter& writer() { return w_; }
  const std::vector<uint8_t>& constants() const { return constants_; }

 private:
  friend class LayerEmitter;

  const Machine& m_;
  StreamWriter w_;
  std::vector<uint8_t> constants_;
  Channel x_, weight_, a_, b_, acc_, out_, parameter_, skip_;
  Channel move_;  ///< The output buffer again: a move waits for the stores of layers before, and layers behind for its.
  std::map<std::array<int64_t, 6>, Address> packed_;  ///< Each part of the weights and parameters is packed once.
  uint32_t stored_ = 0;  ///< Layers before set the event that their stores are done so often; nobody waited for it.
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_EMITTER_H_
