package amcheck

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/program"
)

func TestVerdict(t *testing.T) {
	for want, errs := range map[string][]error{
		v1alpha1.CheckPassed: {nil},
		v1alpha1.CheckFailed: {&program.Error{Program: "pg_amcheck", Code: 2, Err: errors.New("exit status 2")}},
		v1alpha1.CheckNotRun: {
			&program.Error{Program: "pg_amcheck", Code: 1, Said: []string{"no such role"}, Err: errors.New("exit status 1")},
			fmt.Errorf("start: %w", exec.ErrNotFound), fmt.Errorf("start: %w", fs.ErrNotExist),
		},
	} {
		for _, err := range errs {
			if got := verdict("heap table \"x\":\n    bad", err); got.Result != want || got.Message == "" || got.Name != Name {
				t.Errorf("%v: %+v", err, got)
			}
		}
	}
}
