package tracetax.kieker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.aspectj.tools.ajc.Main;

/**
 * Weaves an aspect of Kieker's into compiled classes. The compiler weaves whatever lies on its
 * input path, whatever else it is told, so the classes to weave are put there by themselves.
 */
public final class AspectjWeaver {
  private AspectjWeaver() {}

  /**
   * Writes woven classes.
   *
   * @param arguments the folder of the classes, the folder for the woven ones, the jar with the
   *     aspects, the file that names one of them, the names of the classes to weave
   */
  public static void main(String[] arguments) throws IOException {
    Path input = Files.createDirectory(Paths.get("to-weave"));
    for (int i = 4; i < arguments.length; i++) {
      String file = arguments[i].replace('.', '/') + ".class";
      Files.createDirectories(input.resolve(file).getParent());
      Files.copy(Paths.get(arguments[0], file), input.resolve(file));
    }
    String aspects = arguments[2];
    String[] options = {
      "-1.8",
      "-nowarn",
      "-inpath",
      input.toString(),
      "-aspectpath",
      aspects,
      "-xmlConfigured",
      arguments[3],
      "-classpath",
      aspects + ":" + arguments[0],
      "-d",
      arguments[1]
    };
    List<String> problems = new ArrayList<>();
    List<String> remarks = new ArrayList<>();
    Main.bareMain(options, false, problems, problems, remarks, remarks, remarks);
    if (!problems.isEmpty()) {
      throw new IllegalStateException("the AspectJ compiler reports: " + problems);
    }
  }
}
