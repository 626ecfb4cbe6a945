module tracetax/calltree

go 1.26
