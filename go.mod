module plumbline.dev/plumbline

go 1.26.0
