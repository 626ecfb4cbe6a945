// The processor's counter: its reading, whether it may be trusted, and what it says beside CLOCK_MONOTONIC.
#include <jni.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace {

const int kMostThreads = 64;
const int64_t kComparedNs = 2000000;
const int kPairs = 64;
const double kSlowestReadingNs = 200;

int64_t monotonic_ns() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Not ordered with what stands around it: a few nanoseconds early, and twice as cheap.
inline int64_t reading() {
#if defined(__x86_64__)
  return static_cast<int64_t>(__rdtsc());
#elif defined(__aarch64__)
  int64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return 0;
#endif
}

inline int64_t ordered_reading() {
#if defined(__x86_64__)
  _mm_lfence();
  int64_t value = reading();
  _mm_lfence();
  return value;
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");
  return reading();
#else
  return 0;
#endif
}

// What the processor says of its counter: NULL where it goes at one rate, whatever the processor does.
const char *without_constant_rate() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d >> 8 & 1)) {
    return "the processor, or the virtual machine around it, does not say that its counter is invariant";
  }
  return NULL;
#elif defined(__aarch64__)
  return NULL;  // the architecture demands it
#else
  return "nothing is known of this kind of processor's counter";
#endif
}

struct Comparison {
  int64_t latest;
  int64_t backwards;
  int64_t deadline_ns;
  char taken;
};

struct Place {
  Comparison *comparison;
  int cpu;
};

// Reads by turns with the threads on all other cores: a reading below one that was made before is a core's lag.
void *compare(void *argument) {
  Place *place = static_cast<Place *>(argument);
  Comparison *all = place->comparison;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(place->cpu, &only);
  if (pthread_setaffinity_np(pthread_self(), sizeof only, &only) != 0) return NULL;
  while (monotonic_ns() < all->deadline_ns) {
    if (__atomic_test_and_set(&all->taken, __ATOMIC_ACQUIRE)) continue;
    int64_t now = ordered_reading();
    if (now < all->latest && all->latest - now > all->backwards) all->backwards = all->latest - now;
    if (now > all->latest) all->latest = now;
    __atomic_clear(&all->taken, __ATOMIC_RELEASE);
  }
  return NULL;
}

// By how much the counters of the cores that this process may use differ, in readings; 0 where no order was broken.
int64_t lag_between_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  Comparison all;
  memset(&all, 0, sizeof all);
  all.deadline_ns = monotonic_ns() + kComparedNs;
  pthread_t threads[kMostThreads];
  Place places[kMostThreads];
  int started = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && started < kMostThreads; cpu++) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    places[started].comparison = &all;
    places[started].cpu = cpu;
    if (pthread_create(&threads[started], NULL, compare, &places[started]) != 0) break;
    started++;
  }
  for (int thread = 0; thread < started; thread++) pthread_join(threads[thread], NULL);
  return all.backwards;
}

double cheapest_reading_ns() {
  const int readings = 100;
  int64_t least = INT64_MAX;
  for (int attempt = 0; attempt < 20; attempt++) {
    int64_t begin = monotonic_ns(), sum = 0;
    for (int count = 0; count < readings; count++) sum ^= reading();
    int64_t took = monotonic_ns() - begin;
    asm volatile("" : : "r"(sum));
    if (took < least) least = took;
  }
  return static_cast<double>(least) / readings;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_tracetax_floor_Counter_ticks(JNIEnv *, jclass) { return reading(); }

// The same without a change of the thread's state, where the JVM offers that (-XX:+CriticalJNINatives, up to 17).
JNIEXPORT jlong JNICALL JavaCritical_tracetax_floor_Counter_ticks() { return reading(); }

// Why the counter is no clock here; null where it is one.
JNIEXPORT jstring JNICALL Java_tracetax_floor_Counter_refusal(JNIEnv *env, jclass) {
  const char *problem = without_constant_rate();
  if (problem != NULL) return env->NewStringUTF(problem);
  char text[160];
  double cost = cheapest_reading_ns();
  if (cost > kSlowestReadingNs) {
    snprintf(text, sizeof text, "a reading takes %.0f ns: it is emulated", cost);
    return env->NewStringUTF(text);
  }
  int64_t lag = lag_between_cores();
  if (lag > 0) {
    snprintf(text, sizeof text, "the counters of two cores differ by %lld readings", static_cast<long long>(lag));
    return env->NewStringUTF(text);
  }
  return NULL;
}

// A reading and CLOCK_MONOTONIC at the same moment: of many pairs the one that took least.
JNIEXPORT void JNICALL Java_tracetax_floor_Counter_pair(JNIEnv *env, jclass, jlongArray into) {
  jlong best[2] = {0, 0};
  int64_t least = INT64_MAX;
  for (int attempt = 0; attempt < kPairs; attempt++) {
    int64_t before = ordered_reading();
    int64_t now = monotonic_ns();
    int64_t after = ordered_reading();
    if (after - before < least) {
      least = after - before;
      best[0] = before + (after - before) / 2;
      best[1] = now;
    }
  }
  env->SetLongArrayRegion(into, 0, 2, best);
}

}  // extern "C"
