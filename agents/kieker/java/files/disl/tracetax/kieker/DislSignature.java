package tracetax.kieker;

import ch.usi.dag.disl.staticcontext.AbstractStaticContext;
import java.lang.reflect.Modifier;
import java.util.StringJoiner;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.MethodNode;

/** The signature of the method that is being woven, written into it as a constant. */
public final class DislSignature extends AbstractStaticContext {

  /** The signature as the other technologies write it, modifiers included. */
  public String text() {
    MethodNode method = staticContextData.getMethodNode();
    Type type = Type.getMethodType(method.desc);
    StringJoiner parameters = new StringJoiner(",", "(", ")");
    for (Type parameter : type.getArgumentTypes()) {
      parameters.add(parameter.getClassName());
    }
    String owner = Type.getObjectType(staticContextData.getClassNode().name).getClassName();
    String modifiers = Modifier.toString(method.access & Modifier.methodModifiers());
    String result = type.getReturnType().getClassName();
    return (modifiers + " " + result + " " + owner + "." + method.name + parameters).trim();
  }
}
