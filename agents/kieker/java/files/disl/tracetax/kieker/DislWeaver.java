package tracetax.kieker;

import ch.usi.dag.disl.DiSL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * Weaves compiled classes by DiSL, which takes its probe from the property {@code disl.classes}.
 */
public final class DislWeaver {
  private DislWeaver() {}

  /**
   * Writes woven classes.
   *
   * @param arguments the folder of the classes, the folder for the woven ones, the names of the
   *     classes to weave
   */
  public static void main(String[] arguments) throws Exception {
    DiSL disl = DiSL.init();
    for (int i = 2; i < arguments.length; i++) {
      String file = arguments[i].replace('.', '/') + ".class";
      byte[] woven = disl.instrument(Files.readAllBytes(Paths.get(arguments[0], file)));
      if (woven == null) {
        throw new IllegalStateException("DiSL found nothing to weave in " + arguments[i]);
      }
      Path target = Paths.get(arguments[1], file);
      Files.createDirectories(target.getParent());
      Files.write(target, woven);
    }
  }
}
