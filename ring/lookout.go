package ring

import (
	"sync"
	"time"
)

// lookout is where the goroutine of a wire waits. While messages are received one
// after another it looks now and then only whether that goes on, since to watch a
// socket costs something for each packet.
type lookout struct {
	wire  wire
	bells chan struct{}

	mu    sync.Mutex
	watch watch // nil while there is none
}

// lingering is how long the socket is left alone after a Recv has read from it.
const lingering = 2 * time.Millisecond

// rouse has the goroutine look again.
func (l *lookout) rouse() {
	signal(l.bells)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		l.watch.end()
	}
}

// linger waits a while, or until it is roused, without a watch.
func (l *lookout) linger() {
	l.leave()
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-l.bells:
	case <-timer.C:
	}
}

// wait returns when there may be something to read, or it is roused.
func (l *lookout) wait() error {
	w, err := l.watching()
	if err != nil {
		return err
	}
	select {
	case <-l.bells:
		return nil
	default:
	}
	w.wait()
	return nil
}

func (l *lookout) watching() (w watch, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch == nil {
		l.watch, err = l.wire.watch()
	}
	return l.watch, err
}

// leave ends the watch.
func (l *lookout) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		l.watch.close()
		l.watch = nil
	}
}
