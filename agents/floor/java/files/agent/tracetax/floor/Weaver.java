package tracetax.floor;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Puts the probe around a method. Its locals lie behind the method's own:
 *
 * <pre>
 *   Recorder recorder = Probe.recorder();
 *   long place = recorder.enter();
 *   long start = System.nanoTime();
 *   try { … } finally { recorder.exit(NUMBER, place, start, System.nanoTime()); }
 * </pre>
 */
final class Weaver {
  private static final int API = Opcodes.ASM9;
  private static final String RECORDER = "tracetax/floor/Recorder";

  private Weaver() {}

  /** The class with every method of that name woven; each is registered with the writer. */
  static byte[] woven(byte[] bytes, String method, boolean counts, Writer writer) {
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
            int number = writer.register(owner + "." + name + parameters(descriptor));
            return new Around(next, locals(reader, name, descriptor), number, counts);
          }
        },
        ClassReader.SKIP_FRAMES);
    return result.toByteArray();
  }

  private static String parameters(String descriptor) {
    StringBuilder text = new StringBuilder("(");
    for (Type type : Type.getArgumentTypes(descriptor)) {
      text.append(text.length() > 1 ? "," : "").append(type.getClassName());
    }
    return text.append(')').toString();
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
    private final int recorder;
    private final int place;
    private final int start;
    private final int number;
    private final boolean counts;
    private final Label begin = new Label();

    Around(MethodVisitor next, int locals, int number, boolean counts) {
      super(API, next);
      this.recorder = locals;
      this.place = locals + 1;
      this.start = locals + 3;
      this.number = number;
      this.counts = counts;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC, "tracetax/floor/Probe", "recorder", "()L" + RECORDER + ";", false);
      super.visitInsn(Opcodes.DUP);
      super.visitVarInsn(Opcodes.ASTORE, recorder);
      super.visitMethodInsn(Opcodes.INVOKEVIRTUAL, RECORDER, "enter", "()J", false);
      super.visitVarInsn(Opcodes.LSTORE, place);
      readClock();
      super.visitVarInsn(Opcodes.LSTORE, start);
      super.visitLabel(begin);
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
        exit();
      }
      super.visitInsn(opcode);
    }

    @Override
    public void visitMaxs(int stack, int locals) {
      Label handler = new Label();
      super.visitTryCatchBlock(
          begin, handler, handler, null); // the last one, so that the method's own come first
      super.visitLabel(handler);
      exit();
      super.visitInsn(Opcodes.ATHROW);
      super.visitMaxs(stack, locals);
    }

    private void readClock() {
      String owner = counts ? "tracetax/floor/Counter" : "java/lang/System";
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC, owner, counts ? "ticks" : "nanoTime", "()J", false);
    }

    private void exit() {
      super.visitVarInsn(Opcodes.ALOAD, recorder);
      super.visitLdcInsn(number);
      super.visitVarInsn(Opcodes.LLOAD, place);
      super.visitVarInsn(Opcodes.LLOAD, start);
      readClock();
      super.visitMethodInsn(Opcodes.INVOKEVIRTUAL, RECORDER, "exit", "(IJJJ)V", false);
    }
  }
}
