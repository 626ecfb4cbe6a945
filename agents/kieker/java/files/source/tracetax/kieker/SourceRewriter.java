package tracetax.kieker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashSet;
import java.util.Set;
import net.kieker.sourceinstrumentation.AllowedKiekerRecord;
import net.kieker.sourceinstrumentation.InstrumentationConfiguration;
import net.kieker.sourceinstrumentation.instrument.InstrumentKiekerSource;

/**
 * Writes Kieker's probes into source files, with what its own command line sets where told nothing.
 */
public final class SourceRewriter {
  private static final boolean AGGREGATE = false;
  private static final boolean DEFAULT_CONSTRUCTOR = false;
  private static final boolean ADAPTIVE = false;
  private static final boolean DEACTIVATION = true;
  private static final int AGGREGATED = 1;
  private static final boolean EXTRACT_METHOD = false;

  private SourceRewriter() {}

  /**
   * Writes changed sources.
   *
   * @param arguments the folder of the sources, the folder for the changed ones, the names of the
   *     classes whose methods are monitored
   */
  public static void main(String[] arguments) throws IOException {
    Set<String> monitored = new HashSet<>();
    for (int i = 2; i < arguments.length; i++) {
      String file = arguments[i].replace('.', '/') + ".java";
      Path target = Paths.get(arguments[1], file);
      Files.createDirectories(target.getParent());
      Files.copy(Paths.get(arguments[0], file), target);
      monitored.add("* " + arguments[i] + ".*(..)");
    }
    InstrumentationConfiguration configuration =
        new InstrumentationConfiguration(
            AllowedKiekerRecord.OPERATIONEXECUTION,
            AGGREGATE,
            DEFAULT_CONSTRUCTOR,
            ADAPTIVE,
            monitored,
            DEACTIVATION,
            AGGREGATED,
            EXTRACT_METHOD);
    new InstrumentKiekerSource(configuration).instrumentProject(Paths.get(arguments[1]).toFile());
  }
}
