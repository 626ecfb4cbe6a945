// The clock of events: the processor's counter where it is invariant, else CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <cstdint>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace handlers {

// Both clocks at one moment: two readings tell how long a tick of the counter is.
struct Reading {
  std::uint64_t clock;
  std::uint64_t monotonic_ns;
};

inline std::uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
// Whether the counter runs evenly whatever the processor does (CPUID 80000007h, bit 8 of EDX).
inline bool counter_is_invariant() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

inline std::uint64_t counter() { return __rdtsc(); }
#else
inline bool counter_is_invariant() { return false; }

inline std::uint64_t counter() { return 0; }
#endif

inline bool uses_counter() {
  static const bool invariant = counter_is_invariant();
  return invariant;
}

inline Reading reading() {
  std::uint64_t ns = monotonic_ns();
  return {uses_counter() ? counter() : ns, ns};
}

}  // namespace handlers
