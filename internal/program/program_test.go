package program_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstep-go/lockstep/group"
	"github.com/lockstep-go/lockstep/internal/env"
	"github.com/lockstep-go/lockstep/internal/program"
)

func TestEndIsOneLineAndACode(t *testing.T) {
	failure, sig := errors.New("no space left"), &program.SignalError{Signal: syscall.SIGTERM}
	signalled, cancel := context.WithCancelCause(t.Context())
	cancel(sig)
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		says string
	}{
		"all is well":                   {t.Context(), nil, 0, ""},
		"help":                          {t.Context(), flag.ErrHelp, 0, ""},
		"a failure":                     {t.Context(), failure, 1, "prog: no space left\n"},
		"wrong use":                     {t.Context(), program.WrongUse(failure), 2, "prog: no space left\n"},
		"wrong use that is wrapped":     {t.Context(), fmt.Errorf("rank 1: %w", program.WrongUse(failure)), 2, "prog: rank 1: no space left\n"},
		"two failures":                  {t.Context(), errors.Join(failure, failure), 1, "prog: no space left; no space left\n"},
		"a signal":                      {t.Context(), errors.Join(failure, sig), 143, "prog: ended by terminated\n"},
		"a failure because of a signal": {signalled, failure, 143, "prog: ended by terminated\n"},
		"an end in spite of a signal":   {signalled, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w bytes.Buffer
			if code := program.End(c.ctx, &w, "prog", c.err); code != c.code || w.String() != c.says {
				t.Errorf("exit code %d, %q; want %d, %q", code, w.String(), c.code, c.says)
			}
		})
	}
}

func TestParse(t *testing.T) {
	refuses := errors.New("-n is 0; want 1 or more")
	for args, says := range map[string]string{
		"":          "",
		"-n 3":      "",
		"-n 0":      refuses.Error(),
		"-n":        "-n",
		"-m 3":      "-m",
		"-n 3 more": `unexpected argument "more"`,
	} {
		flags := flag.NewFlagSet("prog", flag.ContinueOnError)
		n := flags.Int("n", 1, "")
		err := program.Parse(flags, "", strings.Fields(args), func() error {
			if *n < 1 {
				return refuses
			}
			return nil
		})
		var usage *program.UsageError
		if says == "" && err != nil || says != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v; want %q", args, err, says)
		}
	}
}

func TestAWrongEnvironmentIsWrongUse(t *testing.T) {
	for variable, try := range map[string]func() error{
		env.Log:     program.UseEnvironment,
		env.Kernel:  program.UseEnvironment,
		env.Backend: func() error { _, err := program.Init(t.Context(), "any"); return err },
		env.Rank:    func() error { _, err := program.Init(t.Context(), "any"); return err },
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "nonsense")
			var usage *program.UsageError
			if err := try(); !errors.As(err, &usage) || !strings.Contains(err.Error(), "LOCKSTEP_") {
				t.Errorf("%s=nonsense: %v", variable, err)
			}
		})
	}
}

func TestAWorldThatDoesNotMeetIsNoWrongUse(t *testing.T) {
	group.Register("absent", absent{})
	g, err := program.Init(t.Context(), "absent")
	var usage *program.UsageError
	if err == nil || g != nil || errors.As(err, &usage) {
		t.Errorf("%v, %v", g, err)
	}
}

// absent is a backend whose other rank never comes.
type absent struct{}

func (absent) Detect() group.Detection { return group.Detection{Available: true, Started: true} }
func (absent) Init(context.Context, group.Config) (group.Communicator, error) {
	return nil, fmt.Errorf("rank 1: %w", context.DeadlineExceeded)
}

func TestASignalIsTheCauseUnlessItIsTaken(t *testing.T) {
	taken := make(chan os.Signal, 1)
	ctx, stop := program.UntilSignal(func(s os.Signal) bool {
		if s == syscall.SIGUSR1 {
			taken <- s
			return true
		}
		return false
	}, syscall.SIGUSR1)
	defer stop()
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	<-taken
	if err := ctx.Err(); err != nil {
		t.Errorf("a signal that was taken ends the context: %v", err)
	}
	syscall.Kill(os.Getpid(), syscall.SIGTERM)
	<-ctx.Done()
	var sig *program.SignalError
	if !errors.As(context.Cause(ctx), &sig) || sig.Signal != syscall.SIGTERM {
		t.Errorf("cause is %v", context.Cause(ctx))
	}
}

func TestAFileAppearsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for _, c := range []struct {
		what string
		end  func(f *program.File) error
		want string
	}{
		{"abandoned", func(f *program.File) error { f.Abandon(); return nil }, "old"},
		{"broken", func(f *program.File) error { return f.Write(func(io.Writer) error { return io.ErrUnexpectedEOF }) }, "old"},
		{"written", func(f *program.File) error {
			return f.Write(func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
		}, "new"},
	} {
		if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := program.NewFile("-json", name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.end(f); (err != nil) != (c.what == "broken") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", c.what, err)
		}
		f.Abandon()
		if got, err := os.ReadFile(name); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.what, got, err, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: %v left, %v", c.what, left, err)
		}
	}
	var none *program.File
	if err := none.Write(nil); err != nil {
		t.Error(err)
	}
	_, err := program.NewFile("-json", filepath.Join(name, "below"))
	var usage *program.UsageError
	if !errors.As(err, &usage) || !errors.Is(err, fs.ErrExist) && !strings.Contains(err.Error(), "-json "+name) {
		t.Errorf("%v", err)
	}
}

func TestABarMakesWay(t *testing.T) {
	var terminal bytes.Buffer
	b := program.NewBarOn(&terminal, "steps", 4)
	b.Add()
	b.Clear()
	fmt.Fprintln(&terminal, "a row")
	if text := terminal.String(); !strings.Contains(text, "steps") || !strings.Contains(text, "\ra row\n") {
		t.Errorf("%q", text)
	}
	none := program.NewBar("steps", 4, group.Single()) // standard error of a test is no terminal
	none.Add()
	none.Set(2)
	none.Describe("nothing")
	none.Clear()
}
