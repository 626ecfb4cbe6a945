module tracetax/runtimeapi

go 1.26
