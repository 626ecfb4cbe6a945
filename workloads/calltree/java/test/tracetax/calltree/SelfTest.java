package tracetax.calltree;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Checks what cannot be seen from outside on every JVM. Ends with an exception if something is
 * wrong.
 */
final class SelfTest {
  private SelfTest() {}

  public static void main(String[] arguments) {
    tierIsTheHighestInUse();
    compilationIsSteadyWhenItsTimeNoLongerGrows();
    jsonIsEscaped();
    schedulesOfAllThreadsInterleave();
    tickIsTheSmallestStep();
  }

  private static void tierIsTheHighestInUse() {
    String list =
        "  7    3    1 tracetax.calltree.ClosedLoop.chunk(Lx;IIJ)J [0x1, 0x2 - 0x3]\n"
            + "  8    2    0 tracetax.calltree.ClosedLoop.chunk(Lx;IIJ)J [0x1, 0x2 - 0x3]\n"
            + "  9    4    0 tracetax.calltree.ClosedLoop.chunks(Lx;IIJ)J [0x1, 0x2 - 0x3]\n";
    check(CodeList.tier(list, ClosedLoop.class, "chunk") == 2, "code no longer in use counts");
    check(CodeList.tier(list, PacedLoop.class, "chunk") == 0, "another class's code counts");
    check(CodeList.tier("", ClosedLoop.class, "chunk") == 0, "interpreted code has a tier");
  }

  private static void compilationIsSteadyWhenItsTimeNoLongerGrows() {
    CompilationTime compilation = new CompilationTime();
    check(!compilation.steady(1_000, 50), "steady after the first look");
    check(!compilation.steady(20_000, 50), "steady before the chunk can be compiled");
    check(!compilation.steady(40_000, 60), "steady while compiling");
    check(!compilation.steady(44_000, 60), "steady soon after compiling");
    check(compilation.steady(45_000, 60), "never steady");
    check(!compilation.steady(60_000, 61), "steady for ever");
  }

  private static void jsonIsEscaped() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("text", "a\"b\\c\n");
    values.put("list", Arrays.<Object>asList(1, 2.5));
    values.put("empty", Collections.emptyList());
    String expected = "{\"text\":\"a\\\"b\\\\c\\u000a\",\"list\":[1,2.5],\"empty\":[]}\n";
    check(Json.of(values).equals(expected), Json.of(values));
  }

  private static void schedulesOfAllThreadsInterleave() {
    long[] first = Samples.paced(3, 0, 2, 1e6).starts;
    long[] second = Samples.paced(2, 1, 2, 1e6).starts;
    check(Arrays.equals(first, new long[] {0, 2_000, 4_000}), Arrays.toString(first));
    check(Arrays.equals(second, new long[] {1_000, 3_000}), Arrays.toString(second));
  }

  private static void tickIsTheSmallestStep() {
    check(tick(20, 6000, 21, 900, 30, 2800, 31, 300) == 10, "a tick of 10 ns that rounds");
    check(tick(0, 9900, 1000, 100) == 1000, "a tick of 1 us");
    check(tick(22, 1000, 23, 4000, 24, 4000, 25, 1000) == 1, "a clock that tells ns apart");
    check(tick(20, 6000, 27, 5, 30, 3995) == 10, "a rare value is no step");
    check(tick(22, 3000, 23, 3000, 24, 3000, 47, 600, 48, 400) == 1, "values far from neighbours");
    check(tick(23, 9000, 24, 500, 61, 500) == 1, "a step that the differences do not consist of");
    check(tick(41, 5000, 42, 3000, 83, 1500, 84, 500) == 42, "a tick of 41.7 ns");
  }

  private static double tick(int... valuesAndCounts) {
    int[] differences = new int[2000];
    long reads = 0;
    for (int i = 0; i < valuesAndCounts.length; i += 2) {
      differences[valuesAndCounts[i]] = valuesAndCounts[i + 1];
      reads += valuesAndCounts[i + 1];
    }
    return Clock.tick(differences, reads);
  }

  private static void check(boolean right, String otherwise) {
    if (!right) {
      throw new AssertionError(otherwise);
    }
  }
}
