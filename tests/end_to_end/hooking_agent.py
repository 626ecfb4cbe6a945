"""A stand-in for inspectIT: a Java agent that is set by the same flags and YAML, hooks one method, and counts calls.

It hooks by putting a class in the place of the workload's that differs in one line. Where ``internal.async`` is not
``false`` it does so later, as inspectIT does.
"""

import shutil
import subprocess
from pathlib import Path

from tests.end_to_end.command import ROOT

MANIFEST = """Premain-Class: hooking.Agent
Can-Redefine-Classes: true
"""

AGENT = """
package hooking;

import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class Agent {
  public static void premain(String arguments, Instrumentation instrumentation) throws Exception {
    String yaml;
    try (var files = Files.list(Path.of(System.getProperty("inspectit.config.file-based.path")))) {
      yaml = Files.readString(files.filter(file -> file.toString().endsWith(".yml")).findFirst().orElseThrow());
    }
    String hooked = first("type: \\\\{ name: ([\\\\w.]+) \\\\}", yaml);
    String method = first("methods: \\\\[ \\\\{ name: (\\\\w+) \\\\} \\\\]", yaml);
    if (!method.equals("monitoredMethod") || !yaml.contains("metrics:")) {
      return;
    }
    if ("ENABLED".equals(System.getProperty("inspectit.exporters.metrics.prometheus.enabled"))) {
      Counter.serve(first("'\\\\[([\\\\w/]+)\\\\]': \\\\{ aggregation: COUNT \\\\}", yaml));
    }
    byte[] woven;
    try (InputStream in = Agent.class.getResourceAsStream("/woven.bin")) {
      woven = in.readAllBytes();
    }
    if ("false".equals(System.getProperty("inspectit.instrumentation.internal.async"))) {
      instrumentation.addTransformer(new ClassFileTransformer() {
        @Override
        public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
          return name != null && name.replace('/', '.').equals(hooked) ? woven : null;
        }
      });
      return;
    }
    Thread later = new Thread(() -> {
      try {
        Thread.sleep(Long.getLong("hooking.after.ms"));
        instrumentation.redefineClasses(new ClassDefinition(Class.forName(hooked), woven));
      } catch (Exception e) {
        e.printStackTrace();
      }
    });
    later.setDaemon(true);
    later.start();
  }

  private static String first(String pattern, String text) {
    Matcher found = Pattern.compile(pattern).matcher(text);
    if (!found.find()) {
      throw new IllegalArgumentException("no " + pattern + " in " + text);
    }
    return found.group(1);
  }
}
"""

COUNTER = """
package hooking;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

public final class Counter {
  private static volatile long calls;

  public static void add() {
    calls++;
  }

  static void serve(String view) {
    String name = view.replace('/', '_') + "_ratio";
    Thread starter = new Thread(() -> {
      try {
        String host = System.getProperty("inspectit.exporters.metrics.prometheus.host");
        int port = Integer.getInteger("inspectit.exporters.metrics.prometheus.port");
        HttpServer server = HttpServer.create(new InetSocketAddress(host, port), 0);
        server.createContext("/metrics", exchange -> {
          String sample = calls == 0 ? "" : name + "_total{otel_scope_name=\\"hooking\\"} " + (double) calls + "\\n";
          byte[] body = ("# TYPE " + name + " counter\\n" + sample + "# EOF\\n").getBytes(StandardCharsets.UTF_8);
          String media = "application/openmetrics-text; version=1.0.0; charset=utf-8";
          exchange.getResponseHeaders().set("Content-Type", media);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
        server.start();
      } catch (java.io.IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    });
    starter.setDaemon(true);
    starter.start();
  }
}
"""

WORKLOAD_CLASS = ROOT / "workloads/calltree/java/src/tracetax/calltree/MonitoredClass.java"


def build_agent(folder: Path) -> Path:
    """The agent's jar, compiled into ``folder``."""
    sources, classes = folder / "source", folder / "classes"
    monitored = WORKLOAD_CLASS.read_text()
    begin = "public long monitoredMethod(long methodTimeNs, int depth) {"
    assert monitored.count(begin) == 1
    for name, text in {
        "hooking/Agent.java": AGENT,
        "hooking/Counter.java": COUNTER,
        "tracetax/calltree/MonitoredClass.java": monitored.replace(begin, begin + " hooking.Counter.add();"),
    }.items():
        file = sources / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    files = [str(file) for file in sources.rglob("*.java")]
    subprocess.run(["javac", "--release", "17", "-d", str(classes), *files], check=True, capture_output=True)
    shutil.move(classes / "tracetax/calltree/MonitoredClass.class", classes / "woven.bin")
    (folder / "manifest").write_text(MANIFEST)
    jar = folder / "hooking-agent.jar"
    subprocess.run(["jar", "cfm", str(jar), str(folder / "manifest"), "-C", str(classes), "."], check=True)
    return jar
