#include "ports/npu_emu/model/bank_ports.h"

namespace takt::npu {

BankPorts::BankPorts(const Machine& machine) : machine_(machine) {
  for (int b = 0; b < kBuffers; ++b) {
    const BufferSpec& spec = machine.buffers[b];
    if (spec.ports != 0 && spec.bytes != 0) limited_ |= 1u << b;
  }
}

void BankPorts::SetBanks(const AccessList& accesses, User& user) const {
  for (uint32_t& banks : user.banks) banks = 0;
  for (uint32_t i = 0; i < accesses.count; ++i) {
    const Access& a = accesses.items[i];
    if (a.space >= kBuffers || (limited_ >> a.space & 1) == 0) continue;
    const uint32_t count = machine_.buffers[a.space].banks;
    const uint64_t bytes = kSlots * machine_.slot(static_cast<Buffer>(a.space)) / count;
    for (uint64_t bank = a.begin / bytes; bank <= (a.end - 1) / bytes && bank < count; ++bank) {
      user.banks[a.space] |= 1u << bank;
    }
  }
}

/// Whether q is served before p.
bool BankPorts::Precedes(int q, int p) const {
  const User &a = users_[q], &b = users_[p];
  if (q == p || a.claim == Claim::kNone) return false;
  return a.claim == Claim::kHolds || a.since < b.since || (a.since == b.since && q < p);
}

/// Whether every bank that p wants has a port beside those of the pipes that precede.
bool BankPorts::Served(int p) const {
  for (int b = 0; b < kBuffers; ++b) {
    for (uint32_t rest = users_[p].banks[b]; rest != 0; rest &= rest - 1) {
      const uint32_t bank = rest & (~rest + 1);
      uint32_t busy = 0;
      for (int q = 1; q < kPipes; ++q) busy += (users_[q].banks[b] & bank) != 0 && Precedes(q, p);
      if (busy >= machine_.buffers[b].ports) return false;
    }
  }
  return true;
}

bool BankPorts::Take(int p, const AccessList& accesses, Ticks since) {
  User& user = users_[p];
  SetBanks(accesses, user);
  user.since = since;
  user.end.time = kOverflow;
  user.claim = Claim::kWaits;
  if (!Served(p)) return false;
  user.claim = Claim::kHolds;
  return true;
}

void BankPorts::HoldUntil(int p, const Moment& end) {
  users_[p].end = end;
}

bool BankPorts::Release(Ticks now) {
  if (!limited()) return false;
  bool freed = false, waits = false;
  for (User& user : users_) {
    waits = waits || user.claim == Claim::kWaits;
    if (user.claim != Claim::kHolds || user.end.time > now) continue;
    user.claim = Claim::kNone;
    if (released_.Before(user.end)) released_ = user.end;
    freed = true;
  }
  return freed && waits;
}

Ticks BankPorts::NextRelease() const {
  Ticks next = kOverflow;
  if (!limited()) return next;
  for (const User& user : users_) {
    if (user.claim == Claim::kHolds && user.end.time < next) next = user.end.time;
  }
  return next;
}

}  // namespace takt::npu
