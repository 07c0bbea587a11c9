// Counts calls of the heap. Whoever links it gets its malloc, free and their kin.
#ifndef TAKT_TESTS_SUPPORT_HEAP_TRAP_H_
#define TAKT_TESTS_SUPPORT_HEAP_TRAP_H_

namespace takt::test {

/// False under sanitizers, which take over the same names: then nothing is counted.
bool HeapTrapWorks();
/// From here on calls are counted, from 0.
void ArmHeapTrap();
/// Counts no more; returns the calls.
int DisarmHeapTrap();

int HeapCallsDuring(const auto& work) {
  ArmHeapTrap();
  work();
  return DisarmHeapTrap();
}

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_HEAP_TRAP_H_
