package tracetax.skywalking;

import static org.apache.skywalking.apm.dependencies.net.bytebuddy.matcher.ElementMatchers.named;

import org.apache.skywalking.apm.agent.core.plugin.interceptor.ConstructorInterceptPoint;
import org.apache.skywalking.apm.agent.core.plugin.interceptor.InstanceMethodsInterceptPoint;
import org.apache.skywalking.apm.agent.core.plugin.interceptor.enhance.ClassInstanceMethodsEnhancePluginDefine;
import org.apache.skywalking.apm.agent.core.plugin.match.ClassMatch;
import org.apache.skywalking.apm.agent.core.plugin.match.NameMatch;
import org.apache.skywalking.apm.dependencies.net.bytebuddy.description.method.MethodDescription;
import org.apache.skywalking.apm.dependencies.net.bytebuddy.matcher.ElementMatcher;

/**
 * Tells the agent what to intercept: the method {@code tracetax.method} of the class {@code
 * tracetax.class}, both system properties. Where the class has no such method, it is enhanced and
 * nothing is traced.
 */
public final class MonitoredMethodDefine extends ClassInstanceMethodsEnhancePluginDefine {
  @Override
  protected ClassMatch enhanceClass() {
    return NameMatch.byName(System.getProperty("tracetax.class"));
  }

  @Override
  public ConstructorInterceptPoint[] getConstructorsInterceptPoints() {
    return new ConstructorInterceptPoint[0];
  }

  @Override
  public InstanceMethodsInterceptPoint[] getInstanceMethodsInterceptPoints() {
    return new InstanceMethodsInterceptPoint[] {new MonitoredMethod()};
  }

  private static final class MonitoredMethod implements InstanceMethodsInterceptPoint {
    @Override
    public ElementMatcher<MethodDescription> getMethodsMatcher() {
      return named(System.getProperty("tracetax.method"));
    }

    @Override
    public String getMethodsInterceptor() {
      return "tracetax.skywalking.MonitoredMethodInterceptor";
    }

    @Override
    public boolean isOverrideArgs() {
      return false;
    }
  }
}
