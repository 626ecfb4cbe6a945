package tracetax.requests;

import java.net.URI;
import java.util.Map;

/** What the environment says, in Spring's words, and what is the same wherever the service runs. */
final class Settings {
  private Settings() {}

  static Map<String, Object> of(Map<String, String> environment) {
    URI listen = URI.create("http://" + required(environment, "LISTEN"));
    URI database = URI.create(required(environment, "DATABASE_URL"));
    String url =
        "jdbc:postgresql://%s:%d%s"
            .formatted(database.getHost(), database.getPort(), database.getPath());
    String[] user = database.getUserInfo().split(":", 2);
    return Map.ofEntries(
        Map.entry("server.address", listen.getHost()),
        Map.entry("server.port", listen.getPort()),
        Map.entry("server.tomcat.keep-alive-timeout", "75s"),
        Map.entry("server.tomcat.max-keep-alive-requests", -1),
        Map.entry("spring.datasource.url", url),
        Map.entry("spring.datasource.username", user[0]),
        Map.entry("spring.datasource.password", user[1]),
        Map.entry(
            "spring.datasource.hikari.maximum-pool-size", environment.getOrDefault("POOL", "10")),
        Map.entry("spring.datasource.hikari.connection-timeout", 5_000),
        Map.entry("spring.main.banner-mode", "off"));
  }

  private static String required(Map<String, String> environment, String name) {
    String value = environment.get(name);
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException(name + " must be set");
    }
    return value;
  }
}
