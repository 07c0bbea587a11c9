#include "ports/npu_emu/model/walker.h"

namespace takt::npu {

bool Walker::Control(const Command& command) {
  switch (command.op) {
    case MicroOp::kLoop: {
      Frame& frame = frames_[depth_++];
      frame.body = at_;
      frame.trips_left = command.as<Loop>().trips - 1;
      std::memcpy(frame.steps, steps_, sizeof(steps_));
      return true;
    }
    case MicroOp::kNext: {
      Frame& frame = frames_[depth_ - 1];
      if (frame.trips_left > 0) {
        --frame.trips_left;
        at_ = frame.body;
      } else {
        std::memcpy(steps_, frame.steps, sizeof(steps_));
        --depth_;
      }
      return true;
    }
    case MicroOp::kStep: {
      const auto step = command.as<Step>();
      steps_[step.index] += step.bytes;
      return true;
    }
    default:
      return false;
  }
}

Command Walker::Next() {
  for (;;) {
    position_ = at_;
    const Command command = DecodeChecked(commands_, at_);
    if (command.op == MicroOp::kEnd) return command;
    at_ += 4 + 4 * command.words;
    if (Control(command)) continue;
    ++issued_;
    return command;
  }
}

Command Walker::NextOn(Pipe pipe) {
  for (;;) {
    uint32_t header = 0;
    std::memcpy(&header, commands_.data() + at_, sizeof(header));
    const auto of = static_cast<Pipe>(header >> 8 & 0xFF);
    if (of == pipe || static_cast<MicroOp>(header & 0xFF) == MicroOp::kEnd) return Next();
    const uint32_t at = at_;
    at_ += 4 + 4 * WordsOf(header);
    if (of == Pipe::kCommand) {
      Control(DecodeChecked(commands_, at));
    } else {
      ++issued_;
    }
  }
}

Status Walker::NextChecked(Command& command, uint64_t max_commands) {
  for (;;) {
    position_ = at_;
    TAKT_TRY(DecodeAt(commands_, at_, command));
    const bool bad_loop = (command.op == MicroOp::kLoop && depth_ == kMaxLoopDepth) ||
                          (command.op == MicroOp::kNext && depth_ == 0) ||
                          (command.op == MicroOp::kEnd && depth_ != 0) ||
                          (command.op == MicroOp::kStep && (depth_ == 0 || command.as<Step>().index >= kStepRegisters));
    if (bad_loop) return {StatusCode::kMalformedPlan, Site::kNpuLoop};
    if (command.op == MicroOp::kEnd) return {};
    at_ += 4 + 4 * command.words;
    const bool control = Control(command);
    ++(control ? control_ : issued_);
    if (issued_ + control_ > max_commands) return {StatusCode::kLimitExceeded, Site::kNpuLoop};
    if (!control) return {};
  }
}

}  // namespace takt::npu
