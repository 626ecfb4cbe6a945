package tracetax.requests;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import sun.misc.Signal;

/** An HTTP service that reads and writes rows of a PostgreSQL database. */
@SpringBootApplication
public class Service {
  public static void main(String[] arguments) {
    // Of itself a JVM that gets TERM runs its hooks too, but ends with status 143.
    Signal.handle(new Signal("TERM"), signal -> System.exit(0));
    SpringApplication application = new SpringApplication(Service.class);
    application.setDefaultProperties(Settings.of(System.getenv()));
    application.run(arguments);
  }
}
