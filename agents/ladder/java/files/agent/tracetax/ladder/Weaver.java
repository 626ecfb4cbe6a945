package tracetax.ladder;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Puts the probe around a method. Its local lies behind the method's own:
 *
 * <pre>
 *   Execution execution = Probe.enter(this, NUMBER);
 *   try { … Probe.exit(execution); return … } catch (Throwable t) { Probe.failed(execution, t); throw t; }
 * </pre>
 *
 * The minimal probe has another class and another local. It is called at the same places.
 */
final class Weaver {
  private static final int API = Opcodes.ASM9;
  private static final String PACKAGE = "tracetax/ladder/";

  private Weaver() {}

  /** The class with every method of that name woven. */
  static byte[] woven(byte[] bytes, String method, ClassLoader loader, boolean minimal) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter result =
        new ClassWriter(reader, ClassWriter.COMPUTE_FRAMES) {
          @Override
          protected String getCommonSuperClass(String first, String second) {
            return "java/lang/Object"; // nothing is loaded for the sake of a frame
          }
        };
    String owner = Type.getObjectType(reader.getClassName()).getClassName();
    reader.accept(
        new ClassVisitor(API, result) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            boolean empty = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0;
            if (!name.equals(method) || empty) {
              return next;
            }
            int number = MonitoredMethod.register(owner, name, descriptor, loader);
            boolean ofClass = (access & Opcodes.ACC_STATIC) != 0;
            return new Around(next, locals(reader, name, descriptor), number, ofClass, minimal);
          }
        },
        ClassReader.SKIP_FRAMES);
    return result.toByteArray();
  }

  /** How many places for locals a method has. */
  private static int locals(ClassReader reader, String method, String ofType) {
    int[] found = {0};
    reader.accept(
        new ClassVisitor(API) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            if (!name.equals(method) || !descriptor.equals(ofType)) {
              return null;
            }
            return new MethodVisitor(API) {
              @Override
              public void visitMaxs(int stack, int locals) {
                found[0] = locals;
              }
            };
          }
        },
        ClassReader.SKIP_FRAMES);
    return found[0];
  }

  /** The probe around one method. */
  private static final class Around extends MethodVisitor {
    private final int kept;
    private final int number;
    private final boolean ofClass;
    private final String probe;
    private final String state;
    private final Label begin = new Label();

    Around(MethodVisitor next, int locals, int number, boolean ofClass, boolean minimal) {
      super(API, next);
      this.kept = locals;
      this.number = number;
      this.ofClass = ofClass;
      probe = PACKAGE + (minimal ? "MinimalProbe" : "Probe");
      state = PACKAGE + (minimal ? "MinimalProbe$Local" : "Execution");
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (ofClass) {
        super.visitInsn(Opcodes.ACONST_NULL);
      } else {
        super.visitVarInsn(Opcodes.ALOAD, 0);
      }
      super.visitLdcInsn(number);
      call("enter", "(Ljava/lang/Object;I)L" + state + ";");
      super.visitVarInsn(Opcodes.ASTORE, kept);
      super.visitLabel(begin);
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
        super.visitVarInsn(Opcodes.ALOAD, kept);
        call("exit", "(L" + state + ";)V");
      }
      super.visitInsn(opcode);
    }

    @Override
    public void visitMaxs(int stack, int locals) {
      Label handler = new Label();
      super.visitTryCatchBlock(
          begin,
          handler,
          handler,
          "java/lang/Throwable"); // the last one: the method's own come first
      super.visitLabel(handler);
      super.visitInsn(Opcodes.DUP);
      super.visitVarInsn(Opcodes.ALOAD, kept);
      super.visitInsn(Opcodes.SWAP);
      call("failed", "(L" + state + ";Ljava/lang/Throwable;)V");
      super.visitInsn(Opcodes.ATHROW);
      super.visitMaxs(stack, locals);
    }

    private void call(String name, String descriptor) {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, probe, name, descriptor, false);
    }
  }
}
