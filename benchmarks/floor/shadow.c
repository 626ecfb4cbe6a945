// What work between two readings of a clock costs, on x86-64: cc -O2 shadow.c && ./a.out
// Least of 2,000 batches of 1,000 readings each, ns per reading.
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static uint64_t fenced(void) {
  _mm_lfence();
  return __rdtsc();
}

#define TIMED(name, reading, work)                                              \
  do {                                                                          \
    uint64_t least = ~0ull, chain = 3;                                          \
    for (int batch = 0; batch < 2000; batch++) {                                \
      uint64_t begin = monotonic_ns(), sum = 0;                                 \
      for (int count = 0; count < 1000; count++) {                              \
        sum ^= reading;                                                         \
        work;                                                                   \
      }                                                                         \
      uint64_t took = monotonic_ns() - begin;                                   \
      asm volatile("" : : "r"(sum), "r"(chain));                                \
      if (took < least) least = took;                                           \
    }                                                                           \
    printf("%-28s %-34s %.1f\n", name, #work, least / 1000.0); \
  } while (0)

#define NOTHING (void)0
#define SIXTY_INSTRUCTIONS asm volatile(".rept 60\n mov %%rax, %%rax\n .endr" : : :)
#define NINE_NS_OF_LATENCY asm volatile(".rept 10\n imul %0, %0\n .endr" : "+r"(chain))
#define ALL(name, reading)                  \
  TIMED(name, reading, NOTHING);            \
  TIMED(name, reading, SIXTY_INSTRUCTIONS); \
  TIMED(name, reading, NINE_NS_OF_LATENCY)

int main(void) {
  ALL("counter", __rdtsc());
  ALL("counter behind a fence", fenced());
  ALL("CLOCK_MONOTONIC", monotonic_ns());
  return 0;
}
