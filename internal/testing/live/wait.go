package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Wait is how long a suite waits for what it expects, and what it keeps where that does not come.
type Wait struct {
	Interval, Patience time.Duration
	// Check bounds one check, because one request that is never answered must not take the whole
	// time. No bound: 0.
	Check time.Duration
	// Gather keeps what explains a failure.
	Gather func(*testing.T)
}

// Eventually waits until check returns no error, and fails the test if it always does. It logs
// each new error.
func (w Wait) Eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	start, last := time.Now(), ""
	err := wait.PollUntilContextTimeout(t.Context(), w.Interval, w.Patience, true, func(ctx context.Context) (bool, error) {
		if w.Check > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, w.Check)
			defer cancel()
		}
		err := check(ctx)
		if err == nil {
			return true, nil
		}
		if err.Error() != last {
			last = err.Error()
			t.Logf("%5.1fs %s: %s", time.Since(start).Seconds(), what, last)
		}
		return false, nil
	})
	if err != nil {
		w.Gather(t)
		t.Fatalf("waited %s for %s: %s", w.Patience, what, last)
	}
	t.Logf("%5.1fs %s", time.Since(start).Seconds(), what)
}

// Gather writes what commands print to files of their names, in a new folder whose path it logs.
func Gather(t *testing.T, commands map[string][]string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgstorage-e2e-") //nolint:usetesting // it is for after the test
	if err != nil {
		t.Log(err)
		return
	}
	t.Logf("the objects and logs are in %s", dir)
	for name, argv := range commands {
		out, err := Command(context.Background(), 40*time.Second, argv[0], argv[1:]...)
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "%s\n%v\n", out, err), 0o600); err != nil {
			t.Log(err)
		}
	}
}

// Kubectl adds the program's name to its arguments, for Gather.
func Kubectl(commands map[string][]string) map[string][]string {
	out := make(map[string][]string, len(commands))
	for name, args := range commands {
		out[name] = append([]string{"kubectl"}, args...)
	}
	return out
}
