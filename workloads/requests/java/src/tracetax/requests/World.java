package tracetax.requests;

/** A row. */
record World(int id, int randomNumber) {}
