"""How gunicorn serves the application: one process with four threads."""

import os

bind = os.environ["LISTEN"]
workers = 1
worker_class = "gthread"
threads = 4
keepalive = 75
control_socket_disable = True  # it would lie in the home of whoever starts this
