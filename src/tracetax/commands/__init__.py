"""What the commands do, on top of everything else; ``cli.py`` says how they are typed."""
