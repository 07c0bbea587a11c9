// Ports of on-chip buffers as a resource: a bank serves as many pipes at once as it has ports.
#ifndef TAKT_PORTS_NPU_EMU_MODEL_BANK_PORTS_H_
#define TAKT_PORTS_NPU_EMU_MODEL_BANK_PORTS_H_

#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/model/moment.h"

namespace takt::npu {

/// Which pipe uses which banks, and who waits for them: first come, first served, ties by pipe. A command takes all its
/// banks when it starts, so that nobody waits in a circle.
class BankPorts {
 public:
  explicit BankPorts(const Machine& machine);

  /// False: nobody ever waits, and Take may be left out.
  bool limited() const { return limited_ != 0; }
  /// Whether pipe p's command, ready since `since`, may start; if not it has a place in the row.
  bool Take(int p, const AccessList& accesses, Ticks since);
  /// What pipe p took is free again at `end`.
  void HoldUntil(int p, const Moment& end);
  /// Frees what is due. True if another pipe waits.
  bool Release(Ticks now);
  /// The next time that something becomes free, as far as is known; kOverflow: never.
  Ticks NextRelease() const;
  /// The last one of those that Release has freed.
  const Moment& released() const { return released_; }

 private:
  enum class Claim : uint8_t { kNone, kWaits, kHolds };
  struct User {
    Claim claim = Claim::kNone;
    Ticks since = 0;
    Moment end;
    uint32_t banks[kBuffers] = {};  ///< A bit each.
  };
  void SetBanks(const AccessList& accesses, User& user) const;
  bool Precedes(int q, int p) const;
  bool Served(int p) const;

  const Machine& machine_;
  uint32_t limited_ = 0;  ///< Bits of buffers.
  User users_[kPipes];
  Moment released_;
};

}  // namespace takt::npu

#endif  // TAKT_PORTS_NPU_EMU_MODEL_BANK_PORTS_H_
