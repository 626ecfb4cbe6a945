package tracetax.requests;

import java.math.BigInteger;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedRuntimeException;
import org.springframework.dao.DataAccessException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The five paths; any other is answered with 404. */
@RestController
class Endpoints {
  private static final Logger LOG = LoggerFactory.getLogger(Endpoints.class);
  private static final Pattern WHOLE_NUMBER = Pattern.compile("[0-9]+");
  private static final BigInteger MOST_QUERIES = BigInteger.valueOf(500);

  private final Worlds worlds;

  Endpoints(Worlds worlds) {
    this.worlds = worlds;
  }

  record Message(String message) {}

  @GetMapping(path = "/plaintext", produces = MediaType.TEXT_PLAIN_VALUE)
  String plaintext() {
    return "Hello, World!";
  }

  @GetMapping("/json")
  Message json() {
    return new Message("Hello, World!");
  }

  @GetMapping("/db")
  World db() {
    return worlds.random(1).get(0);
  }

  @GetMapping("/queries")
  List<World> queries(@RequestParam(name = "queries", defaultValue = "1") String queries) {
    return worlds.random(count(queries));
  }

  @GetMapping("/updates")
  List<World> updates(@RequestParam(name = "queries", defaultValue = "1") String queries) {
    return worlds.updated(count(queries));
  }

  /** Tells the log why, and the client only that. */
  @ExceptionHandler({DataAccessException.class, TransactionException.class})
  ResponseEntity<String> databaseFailed(NestedRuntimeException error) {
    LOG.error(error.getMessage());
    return ResponseEntity.internalServerError()
        .contentType(MediaType.TEXT_PLAIN)
        .body("the database failed\n");
  }

  /** How many rows a request asks for: from 1 to 500, and 1 where it says no whole number. */
  private static int count(String queries) {
    if (!WHOLE_NUMBER.matcher(queries).matches()) {
      return 1;
    }
    return new BigInteger(queries).min(MOST_QUERIES).max(BigInteger.ONE).intValue();
  }
}
