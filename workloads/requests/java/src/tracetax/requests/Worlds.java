package tracetax.requests;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** The table. A request has one connection. */
@Repository
public class Worlds {
  private static final String SELECT = "SELECT id, randomnumber FROM world WHERE id = ?";
  private static final String UPDATE = "UPDATE world SET randomnumber = ? WHERE id = ?";
  private static final int ROWS = 10_000;
  private static final RowMapper<World> ROW =
      (row, number) -> new World(row.getInt("id"), row.getInt("randomnumber"));

  private final JdbcTemplate jdbc;

  Worlds(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Reads one row after the other, by random ids: without a transaction, on one connection. */
  @Transactional(propagation = Propagation.SUPPORTS)
  public List<World> random(int count) {
    List<World> rows = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      rows.add(jdbc.queryForObject(SELECT, ROW, randomNumber()));
    }
    return rows;
  }

  /**
   * Reads rows by random ids and writes a new number into each, in one transaction. Rows are
   * written in the order of their ids, so that transactions do not wait for each other in a circle.
   */
  @Transactional
  public List<World> updated(int count) {
    List<World> rows =
        random(count).stream()
            .map(row -> new World(row.id(), randomNumber()))
            .sorted(Comparator.comparingInt(World::id))
            .toList();
    for (World row : rows) {
      jdbc.update(UPDATE, row.randomNumber(), row.id());
    }
    return rows;
  }

  /** An id, or a number for a row: both are from 1 to 10,000. */
  private static int randomNumber() {
    return 1 + ThreadLocalRandom.current().nextInt(ROWS);
  }
}
