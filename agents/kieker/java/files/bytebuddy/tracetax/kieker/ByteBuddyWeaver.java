package tracetax.kieker;

import static net.bytebuddy.matcher.ElementMatchers.isMethod;

import java.io.File;
import java.io.IOException;
import kieker.monitoring.core.controller.IMonitoringController;
import kieker.monitoring.core.registry.ControlFlowRegistry;
import kieker.monitoring.core.registry.SessionRegistry;
import kieker.monitoring.probe.bytebuddy.OperationExecutionAdvice;
import kieker.monitoring.timer.ITimeSource;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.modifier.Ownership;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.pool.TypePool;

/**
 * Weaves Kieker's ByteBuddy advice into compiled classes, as its agent does when they are loaded.
 */
public final class ByteBuddyWeaver {
  private ByteBuddyWeaver() {}

  /**
   * Writes woven classes.
   *
   * @param arguments the folder of the classes, the folder for the woven ones, the names of the
   *     classes to weave
   */
  public static void main(String[] arguments) throws IOException {
    File classes = new File(arguments[0]);
    File woven = new File(arguments[1]);
    try (ClassFileLocator locator =
        new ClassFileLocator.Compound(
            new ClassFileLocator.ForFolder(classes),
            ClassFileLocator.ForClassLoader.ofSystemLoader())) {
      TypePool types = TypePool.Default.of(locator);
      for (int i = 2; i < arguments.length; i++) {
        weave(types.describe(arguments[i]).resolve(), locator).saveIn(woven);
      }
    }
  }

  /**
   * The advice keeps what it needs in these fields of the class, and fills them when it first runs.
   */
  private static DynamicType weave(TypeDescription type, ClassFileLocator locator) {
    return new ByteBuddy()
        .redefine(type, locator)
        .defineField("CTRLINST", IMonitoringController.class, Ownership.STATIC, Visibility.PRIVATE)
        .defineField("TIME", ITimeSource.class, Ownership.STATIC, Visibility.PRIVATE)
        .defineField("VMNAME", String.class, Ownership.STATIC, Visibility.PRIVATE)
        .defineField("CFREGISTRY", ControlFlowRegistry.class, Ownership.STATIC, Visibility.PRIVATE)
        .defineField("SESSIONREGISTRY", SessionRegistry.class, Ownership.STATIC, Visibility.PRIVATE)
        .visit(Advice.to(OperationExecutionAdvice.class).on(isMethod()))
        .make();
  }
}
