"""An agent that counts calls and serves the number: the workload's class with a counter in it, on the class path."""

from pathlib import Path

AGENT = """
name = "Counter"
homepage = "https://example.org"
licence = "Apache-2.0"
language = "java"
runtime = { min = 17, tested = [17, 21, 25] }
instrumentation = "by hand"

[artifacts.agent]
given = "nothing: the class is compiled by the test"

[[prepare]]
name = "counted"
compile = { sources = "{agent.files}/src", release = 17 }

[common]
layers = ["I", "C", "W"]
delivery = "aggregated"
protocol = "prometheus"
scrape = { path = "/metrics", metric = "calls_total", interval = "1 s" }
record_name = "{monitored.class}.{monitored.method}"
search_path = ["{prepared.counted}", "{workload.built}"]

[configurations.exact]
title = "counts every call"
flags = ["-Dcounter.port={scrape.port}"]

[configurations.half]
title = "counts every second call"
flags = ["-Dcounter.port={scrape.port}", "-Dcounter.every=2"]

[configurations.other-name]
title = "serves another metric"
scrape = { path = "/metrics", metric = "method_calls_total" }
flags = ["-Dcounter.port={scrape.port}"]

[configurations.elsewhere]
title = "serves on another port"
flags = ["-Dcounter.port=0", "-Dcounter.ignored={scrape.port}"]
"""

SOURCE = """
package tracetax.calltree;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

public class MonitoredClass {
  private static final long EVERY = Long.getLong("counter.every", 1);
  private static volatile long calls;

  static {
    Thread starter = new Thread(MonitoredClass::serve);
    starter.setDaemon(true);
    starter.start();
  }

  public long monitoredMethod(long methodTimeNs, int depth) {
    calls++;
    if (depth > 1) {
      return monitoredMethod(methodTimeNs, depth - 1);
    }
    return System.nanoTime();
  }

  private static void serve() {
    try {
      int port = Integer.getInteger("counter.port");
      HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
      server.createContext("/metrics", exchange -> {
        String text = "# TYPE calls_total counter\\ncalls_total{method=\\"all\\"} " + calls / EVERY + ".0\\n";
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
      });
      server.start();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
"""


def write_agent(folder: Path) -> None:
    """Put the agent's folder there."""
    source = folder / "files" / "src" / "tracetax" / "calltree" / "MonitoredClass.java"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    (folder / "agent.toml").write_text(AGENT)
