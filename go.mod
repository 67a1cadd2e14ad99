module github.com/lockstep-go/lockstep

go 1.26.0

require (
	github.com/sbromberger/gompi v0.2.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/sys v0.50.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)
