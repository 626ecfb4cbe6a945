package tracetax.skywalking;

import java.lang.reflect.Method;
import org.apache.skywalking.apm.agent.core.context.ContextManager;
import org.apache.skywalking.apm.agent.core.plugin.interceptor.enhance.EnhancedInstance;
import org.apache.skywalking.apm.agent.core.plugin.interceptor.enhance.InstanceMethodsAroundInterceptor;
import org.apache.skywalking.apm.agent.core.plugin.interceptor.enhance.MethodInterceptResult;

/**
 * Makes a local span of every execution, called as the system property {@code tracetax.operation}
 * says: the least that a plugin does.
 */
public final class MonitoredMethodInterceptor implements InstanceMethodsAroundInterceptor {
  private static final String OPERATION = System.getProperty("tracetax.operation");

  @Override
  public void beforeMethod(
      EnhancedInstance instance,
      Method method,
      Object[] arguments,
      Class<?>[] types,
      MethodInterceptResult result) {
    ContextManager.createLocalSpan(OPERATION);
  }

  @Override
  public Object afterMethod(
      EnhancedInstance instance,
      Method method,
      Object[] arguments,
      Class<?>[] types,
      Object returned) {
    ContextManager.stopSpan();
    return returned;
  }

  @Override
  public void handleMethodException(
      EnhancedInstance instance,
      Method method,
      Object[] arguments,
      Class<?>[] types,
      Throwable thrown) {
    ContextManager.activeSpan().log(thrown);
  }
}
