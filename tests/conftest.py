from hypothesis import settings

# how long an example takes depends on what else the machine does, and says nothing about the code
settings.register_profile("tracetax", deadline=None)
settings.load_profile("tracetax")
