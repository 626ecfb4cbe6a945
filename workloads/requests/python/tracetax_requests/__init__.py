"""An HTTP service that reads and writes rows of a PostgreSQL database: Flask on gunicorn, SQLAlchemy on psycopg."""
