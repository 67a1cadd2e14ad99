module github.com/lockstep-go/lockstep

go 1.26.0

require (
	github.com/sbromberger/gompi v0.2.0
	github.com/x448/float16 v0.8.4
	golang.org/x/sys v0.50.0
	gonum.org/v1/gonum v0.17.0
	pgregory.net/rapid v1.3.0
)
