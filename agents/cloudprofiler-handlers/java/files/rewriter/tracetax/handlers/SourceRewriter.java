package tracetax.handlers;

import com.github.javaparser.StaticJavaParser;
import com.github.javaparser.ast.CompilationUnit;
import com.github.javaparser.ast.Modifier;
import com.github.javaparser.ast.body.ClassOrInterfaceDeclaration;
import com.github.javaparser.ast.body.MethodDeclaration;
import com.github.javaparser.ast.stmt.BlockStmt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.stream.Collectors;

/**
 * Writes the probe into the source of a class: an event as the method begins, and one as it ends.
 *
 * <pre>
 *   private static final long HANDLERS_0 = Handlers.register("own.Class.method(int)");
 *
 *   int method(int value) {
 *     Handlers.event(HANDLERS_0);
 *     try { … } finally { Handlers.event(HANDLERS_0 + 1); }
 *   }
 * </pre>
 */
public final class SourceRewriter {
  private static final String PROBE = "tracetax.handlers.Handlers";

  private SourceRewriter() {}

  /**
   * Writes the changed source.
   *
   * @param arguments the folder of the sources, the folder for the changed one, the class, the name
   *     of its methods that are monitored
   */
  public static void main(String[] arguments) throws IOException {
    String monitored = arguments[2];
    String file = monitored.replace('.', '/') + ".java";
    CompilationUnit unit = StaticJavaParser.parse(Paths.get(arguments[0], file));
    String simple = monitored.substring(monitored.lastIndexOf('.') + 1);
    ClassOrInterfaceDeclaration type =
        unit.getClassByName(simple)
            .orElseThrow(() -> new IllegalArgumentException(file + " has no class " + simple));
    int number = 0;
    for (MethodDeclaration method : type.getMethodsByName(arguments[3])) {
      if (method.getBody().isPresent()) {
        instrument(type, method, monitored, "HANDLERS_" + number++);
      }
    }
    if (number == 0) {
      throw new IllegalArgumentException(monitored + " has no method " + arguments[3]);
    }
    Path target = Paths.get(arguments[1], file);
    Files.createDirectories(target.getParent());
    Files.writeString(target, unit.toString());
  }

  private static void instrument(
      ClassOrInterfaceDeclaration type, MethodDeclaration method, String owner, String constant) {
    String parameters =
        method.getParameters().stream()
            .map(parameter -> parameter.getType().asString())
            .collect(Collectors.joining(","));
    String name = owner + "." + method.getNameAsString() + "(" + parameters + ")";
    type.addFieldWithInitializer(
        "long",
        constant,
        StaticJavaParser.parseExpression(PROBE + ".register(\"" + name + "\")"),
        Modifier.Keyword.PRIVATE,
        Modifier.Keyword.STATIC,
        Modifier.Keyword.FINAL);
    BlockStmt body = method.getBody().orElseThrow();
    BlockStmt around =
        StaticJavaParser.parseBlock(
            String.format(
                "{ %1$s.event(%2$s); try {} finally { %1$s.event(%2$s + 1); } }", PROBE, constant));
    around.getStatement(1).asTryStmt().setTryBlock(body);
    method.setBody(around);
  }
}
